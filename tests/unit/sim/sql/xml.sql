-- xml is kept as SQL Server writes it
SELECT CAST('<a><b></b> <c x=''1&quot;"''>t &amp; &#65; <![CDATA[<z>]]></c><!-- hi --><?pi x?></a>' AS xml) AS x;
--> x
--> <a><b/><c x="1&quot;&quot;">t &amp; A &lt;z&gt;</c><!-- hi --><?pi x?></a>
--> (1)
SELECT CAST('<?xml version="1.0" encoding="utf-8"?>  <a>  </a> ' AS xml) AS a, CAST(N'x<y/>z' AS xml) AS b, CAST(0x3C612F3E AS xml) AS c, CAST(0xFFFE3C0061002F003E00 AS xml) AS d;
--> a|b|c|d
--> <a/>|x<y/>z|<a/>|<a/>
--> (1)
SELECT CONVERT(xml, '<a> <b/> </a>', 1) AS kept, CAST('<a xml:space="preserve"> <b> </b></a>' AS xml) AS asked, CAST('<a>&#32;</a>' AS xml) AS meant;
--> kept|asked|meant
--> <a> <b/> </a>|<a xml:space="preserve"> <b> </b></a>|<a> </a>
--> (1)
SELECT CAST(N'<p:ä xmlns:p="u" p:x="&#9;日"><p:b/></p:ä>' AS xml) AS x;
--> x
--> <p:ä xmlns:p="u" p:x="&#x09;日"><p:b/></p:ä>
--> (1)
SELECT TRY_CAST('<a>' AS xml) AS x, CAST(CAST('<a></a>' AS xml) AS nvarchar(10)) AS t;
--> x|t
--> NULL|<a/>
--> (1)
CREATE TABLE docs (id int, doc xml);
INSERT docs VALUES (1, '<a><b></b></a>');
INSERT docs VALUES (2, '');
SELECT doc FROM docs ORDER BY id;
--> (1)
--> (1)
--> doc
--> <a><b/></a>
--> 
--> (2)
-- what is not well-formed is no xml, and ends the batch
INSERT docs VALUES (3, '<a><b></a>'); PRINT 'on';
--> !9436 16 1 line 2: XML parsing: line 1, character 10, end tag does not match start tag
SELECT CAST('<a>' AS xml);
--> 
--> !9400 16 1 line 1: XML parsing: line 1, character 3, unexpected end of input
SELECT CAST('<a>x & y</a>' AS xml);
--> 
--> !9421 16 1 line 1: XML parsing: line 1, character 7, illegal name character
SELECT CAST('<a b=1/>' AS xml);
--> 
--> !9413 16 1 line 1: XML parsing: line 1, character 6, A string literal was expected
SELECT CAST('<a b/>' AS xml);
--> 
--> !9414 16 1 line 1: XML parsing: line 1, character 5, equal expected
SELECT CAST('<a b="1"c="2"/>' AS xml);
--> 
--> !9410 16 1 line 1: XML parsing: line 1, character 9, whitespace expected
SELECT CAST('<a b="1" b="2"/>' AS xml);
--> 
--> !9437 16 1 line 1: XML parsing: line 1, character 11, duplicate attribute
SELECT CAST('1 < 2' AS xml);
--> 
--> !9455 16 1 line 1: XML parsing: line 1, character 4, illegal qualified name character
SELECT CAST('</a>' AS xml);
--> 
--> !9436 16 1 line 1: XML parsing: line 1, character 4, end tag does not match start tag
SELECT CAST('<p:a/>' AS xml);
--> 
--> !9459 16 1 line 1: XML parsing: line 1, character 5, undeclared prefix
SELECT CAST(N'日' + NCHAR(10) + N'<a>&nbsp;</a>' AS xml);
--> 
--> !9448 16 1 line 1: XML parsing: line 2, character 9, well formed check: undeclared entity
SELECT CAST(N'<?xml version="1.0" encoding="utf-8"?><a/>' AS xml);
--> 
--> !9402 16 1 line 1: XML parsing: line 1, character 38, unable to switch the encoding
SELECT CAST(' <?xml version="1.0"?><a/>' AS xml);
--> 
--> !9438 16 1 line 1: XML parsing: line 1, character 7, text/xmldecl not at the beginning of input
SELECT CAST('<!DOCTYPE a><a/>' AS xml);
--> 
--> !6359 16 1 line 1: Parsing XML with internal subset DTDs not allowed. Use CONVERT with style option 2 to enable limited internal subset DTD support.
SELECT CAST('<a><!-- -- --></a>' AS xml);
--> 
--> !9424 16 1 line 1: XML parsing: line 1, character 11, incorrect comment syntax
SELECT CAST('<a>' + CHAR(1) + '</a>' AS xml);
--> 
--> !9420 16 1 line 1: XML parsing: line 1, character 4, illegal xml character
SELECT CAST(REPLICATE('<a>', 200) + REPLICATE('</a>', 200) AS xml);
--> 
--> !6335 16 1 line 1: XML datatype instance has too many levels of nested nodes. Maximum allowed depth is 128 levels.
SELECT CONVERT(xml, '<a b="<"/>');
--> 
--> !9420 16 1 line 1: XML parsing: line 1, character 7, illegal xml character
SELECT CAST('<a><?p! x?></a>' AS xml);
--> 
--> !9441 16 1 line 1: XML parsing: line 1, character 7, incorrect processing instruction syntax
SELECT CAST('<a xmlns:p=""/>' AS xml);
--> 
--> !50001 16 1 line 1: tidesim: an XML prefix that stands for nothing is not supported
