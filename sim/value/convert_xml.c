/* Text to xml: it must be well-formed, and is kept as SQL Server writes it: without declaration and without white space between elements,
 * empty elements short, values of attributes in double quotes, references resolved and written in one way. */
#include "sim/value/convert_internal.h"

#include "base/buf.h"
#include "base/list.h"

#include <string.h>

enum { DEPTH_MOST = 128, STYLE_KEEPS_SPACE = 1 };

typedef struct Attribute {
    Str name, value; /* the value as it will be written */
} Attribute;

typedef LIST(Attribute) AttributeList;
typedef LIST(Str) NameList;

typedef struct Xml {
    Str       text;
    size_t    at;
    Arena    *arena;
    SimError *error;
    Buf       out;
    NameList  prefixes; /* declared around here */
    Buf       run;      /* text since the last markup, as it will be written */
    bool      run_is_white;
} Xml;

/* --- where it is wrong --- */

/* Characters count from 1, as UTF-16 has them. */
static bool wrong_at(const Xml *xml, size_t at, int32_t number, const char *what)
{
    size_t line = 1, character = 1, next = 0;

    while (next < at && next < xml->text.len) {
        uint32_t point = utf8_next(xml->text, &next);
        character      = point == '\n' ? 1 : character + (point > 0xFFFF ? 2 : 1);
        line += point == '\n';
    }
    return sim_error(xml->error, number, "XML parsing: line %zu, character %zu, %s", line,
                     character, what);
}

/* The end is where the last character was. */
static bool ends_early(const Xml *xml)
{
    size_t last = xml->text.len;

    while (last > 0 && ((uint8_t)xml->text.ptr[--last] & 0xC0) == 0x80) {
    }
    return wrong_at(xml, last, 9400, "unexpected end of input");
}

static bool wrong(const Xml *xml, int32_t number, const char *what)
{
    return xml->at >= xml->text.len ? ends_early(xml) : wrong_at(xml, xml->at, number, what);
}

/* --- characters --- */

static char peek(const Xml *xml)
{
    return xml->at < xml->text.len ? xml->text.ptr[xml->at] : '\0';
}

static bool is_white(uint32_t c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_letter(uint32_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (c >= 0xC0 && c != 0xD7 && c != 0xF7 && c != 0x037E && c < 0xFFFE &&
            !(c >= 0x2000 && c <= 0x206F && c != 0x200C && c != 0x200D));
}

static bool is_name_part(uint32_t c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == 0xB7;
}

static bool is_character(uint32_t c)
{
    return is_white(c) || (c >= 0x20 && c != 0xFFFE && c != 0xFFFF && (c < 0xD800 || c > 0xDFFF));
}

static bool starts(const Xml *xml, const char *with)
{
    return str_starts_with(str_slice(xml->text, xml->at, xml->text.len), str_from_c(with));
}

static bool skip_white(Xml *xml)
{
    size_t from = xml->at;

    while (xml->at < xml->text.len && is_white((uint8_t)peek(xml)))
        xml->at++;
    return xml->at > from;
}

/* A name with at most one colon, after which another begins. */
static bool read_name(Xml *xml, Str *out)
{
    size_t from = xml->at, at = from;
    bool   begins = true;
    int    colons = 0;

    while (at < xml->text.len) {
        size_t   before = at;
        uint32_t c      = utf8_next(xml->text, &at);
        bool     fits   = begins ? is_letter(c) : is_name_part(c);
        begins          = false;
        if (c == ':' && before > from) {
            xml->at = before;
            if (++colons > 1) return wrong(xml, 9456, "multiple colons in qualified name");
            begins = true;
            continue;
        }
        if (fits) continue;
        at = before;
        break;
    }
    xml->at = at;
    if (at == from || xml->text.ptr[at - 1] == ':')
        return wrong(xml, 9455, "illegal qualified name character");
    *out = str_slice(xml->text, from, at);
    return true;
}

static Str prefix_of(Str name)
{
    ptrdiff_t colon = str_find_char(name, ':', 0);

    return colon < 0 ? STR_EMPTY : str_slice(name, 0, (size_t)colon);
}

static bool is_declared(const Xml *xml, Str prefix)
{
    if (str_is_empty(prefix) || str_equal(prefix, STR("xml")) || str_equal(prefix, STR("xmlns")))
        return true;
    for (size_t i = 0; i < xml->prefixes.count; i++)
        if (str_equal(xml->prefixes.items[i], prefix)) return true;
    return false;
}

/* --- text and references --- */

static void put_character(Buf *out, uint32_t c, bool in_attribute)
{
    char bytes[4];

    if (c == '&')
        buf_append_c(out, "&amp;");
    else if (c == '<')
        buf_append_c(out, "&lt;");
    else if (c == '>')
        buf_append_c(out, "&gt;");
    else if (c == '"' && in_attribute)
        buf_append_c(out, "&quot;");
    else if (c == '\r' || (in_attribute && (c == '\t' || c == '\n')))
        buf_printf(out, "&#x%02X;", (unsigned)c);
    else
        buf_append_bytes(out, bytes, utf8_encode(c, bytes));
}

static bool read_number(Xml *xml, uint32_t *out)
{
    bool     is_hex = starts(xml, "x");
    uint32_t base = is_hex ? 16 : 10, value = 0;
    size_t   from;

    xml->at += is_hex;
    for (from = xml->at; xml->at < xml->text.len; xml->at++) {
        char     c     = peek(xml);
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                         : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
                                                : 99;
        if (digit >= base) break;
        value = value > 0x10FFFF ? value : value * base + digit;
    }
    if (xml->at == from)
        return wrong(xml, 9416, is_hex ? "hexadecimal digit expected" : "decimal digit expected");
    if (!is_character(value) || value > 0x10FFFF) return wrong(xml, 9420, "illegal xml character");
    *out = value;
    return true;
}

/* Behind the ampersand. */
static bool read_reference(Xml *xml, uint32_t *out)
{
    static const struct {
        const char *name;
        uint32_t    c;
    } known[] = {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
    Str name  = STR_EMPTY;

    xml->at++;
    if (peek(xml) == '#') {
        xml->at++;
        if (!read_number(xml, out)) return false;
        if (peek(xml) != ';') return wrong(xml, 9411, "semicolon expected");
        xml->at++;
        return true;
    }
    if (!is_letter((uint8_t)peek(xml))) return wrong(xml, 9421, "illegal name character");
    if (!read_name(xml, &name)) return false;
    if (peek(xml) != ';') return wrong(xml, 9411, "semicolon expected");
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (str_equal_c(name, known[i].name)) {
            *out = known[i].c;
            xml->at++;
            return true;
        }
    return wrong(xml, 9448, "well formed check: undeclared entity");
}

/* One character of text or of a value; the ends of lines become one character. */
static bool read_character(Xml *xml, uint32_t *out, bool *is_reference)
{
    *is_reference = peek(xml) == '&';
    if (*is_reference) return read_reference(xml, out);
    size_t before = xml->at;
    *out          = utf8_next(xml->text, &xml->at);
    if (!is_character(*out)) {
        xml->at = before;
        return wrong(xml, 9420, "illegal xml character");
    }
    if (*out == '\r') {
        if (peek(xml) == '\n') xml->at++;
        *out = '\n';
    }
    return true;
}

/* What was text so far, unless it is only white and none is kept. */
static bool end_run(Xml *xml, bool keeps_space)
{
    bool has = xml->run.len > 0 && (keeps_space || !xml->run_is_white);

    if (has) buf_append(&xml->out, buf_str(&xml->run));
    buf_clear(&xml->run);
    xml->run_is_white = true;
    return has;
}

static bool read_text(Xml *xml)
{
    uint32_t c;
    bool     is_reference;

    if (starts(xml, "]]>")) return wrong(xml, 9422, "incorrect document syntax");
    if (!read_character(xml, &c, &is_reference)) return false;
    xml->run_is_white &= is_white(c) && !is_reference;
    put_character(&xml->run, c, false);
    return true;
}

static bool read_cdata(Xml *xml)
{
    uint32_t c;

    xml->at += 9;
    while (!starts(xml, "]]>")) {
        if (xml->at >= xml->text.len) return ends_early(xml);
        size_t before = xml->at;
        c             = utf8_next(xml->text, &xml->at);
        if (!is_character(c)) {
            xml->at = before;
            return wrong(xml, 9420, "illegal xml character");
        }
        if (c == '\r') continue;
        xml->run_is_white = false;
        put_character(&xml->run, c, false);
    }
    xml->at += 3;
    return true;
}

/* --- markup --- */

/* Comments and instructions stay as they are. */
static bool copy_until(Xml *xml, const char *end, int32_t number, const char *what)
{
    size_t    from = xml->at;
    ptrdiff_t stop = str_find(xml->text, str_from_c(end), from + 2);

    if (stop < 0) return ends_early(xml);
    size_t    after  = (size_t)stop + strlen(end);
    ptrdiff_t dashes = number == 9424 ? str_find(xml->text, STR("--"), from + 4) : stop;
    if (dashes < stop || (number == 9424 && (size_t)stop < from + 4)) {
        xml->at = MIN((size_t)dashes + 2, xml->text.len - 1);
        return wrong(xml, number, what);
    }
    buf_append(&xml->out, str_slice(xml->text, from, after));
    xml->at = after;
    return true;
}

static bool read_instruction(Xml *xml)
{
    size_t from = xml->at;
    Str    name = STR_EMPTY;

    xml->at += 2;
    if (!read_name(xml, &name)) return false;
    if (str_equal_ignoring_case(name, STR("xml"))) {
        xml->at = from + 2 + name.len;
        return wrong(xml, 9438, "text/xmldecl not at the beginning of input");
    }
    if (!is_white((uint8_t)peek(xml)) && !starts(xml, "?>"))
        return wrong(xml, 9441, "incorrect processing instruction syntax");
    xml->at = from;
    return copy_until(xml, "?>", 9441, "incorrect processing instruction syntax");
}

static bool read_value(Xml *xml, Str *out)
{
    Buf      value = buf_new(xml->arena, 0);
    char     quote = peek(xml);
    uint32_t c;
    bool     is_reference;

    if (quote != '"' && quote != '\'') return wrong(xml, 9413, "A string literal was expected");
    for (xml->at++; peek(xml) != quote;) {
        if (xml->at >= xml->text.len) return ends_early(xml);
        if (peek(xml) == '<') return wrong(xml, 9420, "illegal xml character");
        if (!read_character(xml, &c, &is_reference)) return false;
        put_character(&value, is_white(c) && !is_reference ? ' ' : c, true);
    }
    xml->at++;
    *out = buf_str(&value);
    return true;
}

static bool read_attributes(Xml *xml, AttributeList *out)
{
    for (;;) {
        bool      has_white = skip_white(xml);
        Attribute one       = {STR_EMPTY, STR_EMPTY};

        if (peek(xml) == '>' || peek(xml) == '/') return true;
        if (xml->at >= xml->text.len) return ends_early(xml);
        if (!has_white) return wrong(xml, 9410, "whitespace expected");
        if (!read_name(xml, &one.name)) return false;
        for (size_t i = 0; i < out->count; i++)
            if (str_equal(out->items[i].name, one.name))
                return wrong(xml, 9437, "duplicate attribute");
        (void)skip_white(xml);
        if (peek(xml) != '=') return wrong(xml, 9414, "equal expected");
        xml->at++;
        (void)skip_white(xml);
        if (!read_value(xml, &one.value)) return false;
        *LIST_PUSH(xml->arena, out) = one;
        if (!str_equal(prefix_of(one.name), STR("xmlns"))) continue;
        if (str_is_empty(one.value))
            return sim_not_supported(xml->error, "an XML prefix that stands for nothing");
        *LIST_PUSH(xml->arena, &xml->prefixes) = str_slice(one.name, 6, one.name.len);
    }
}

static bool check_prefixes(const Xml *xml, Str name, const AttributeList *attributes)
{
    bool ok = is_declared(xml, prefix_of(name));

    for (size_t i = 0; ok && i < attributes->count; i++)
        ok = is_declared(xml, prefix_of(attributes->items[i].name));
    return ok || wrong(xml, 9459, "undeclared prefix");
}

static bool space_is_kept(const AttributeList *attributes, bool around)
{
    for (size_t i = 0; i < attributes->count; i++)
        if (str_equal(attributes->items[i].name, STR("xml:space")))
            return str_equal(attributes->items[i].value, STR("preserve"));
    return around;
}

static bool read_content(Xml *xml, int depth, bool keeps_space, bool *has_any);

/* Behind its last attribute. */
static bool read_rest(Xml *xml, Str name, int depth, bool keeps_space)
{
    Str    end = STR_EMPTY;
    size_t open;
    bool   has_any = false;

    if (peek(xml) == '/') {
        xml->at++;
        if (peek(xml) != '>') return wrong(xml, 9412, "greater-than '>' expected");
        xml->at++;
        buf_append_c(&xml->out, "/>");
        return true;
    }
    xml->at++;
    open = xml->out.len;
    buf_append_char(&xml->out, '>');
    if (!read_content(xml, depth + 1, keeps_space, &has_any)) return false;
    if (xml->at >= xml->text.len) return ends_early(xml);
    xml->at += 2; /* </ */
    if (!read_name(xml, &end)) return false;
    if (!str_equal(end, name)) return wrong(xml, 9436, "end tag does not match start tag");
    (void)skip_white(xml);
    if (peek(xml) != '>') return wrong(xml, 9412, "greater-than '>' expected");
    xml->at++;
    if (!has_any) {
        xml->out.len = open;
        buf_append_c(&xml->out, "/>");
        return true;
    }
    buf_append_c(&xml->out, "</");
    buf_append(&xml->out, name);
    buf_append_char(&xml->out, '>');
    return true;
}

static bool read_element(Xml *xml, int depth, bool keeps_space)
{
    size_t        prefix_count = xml->prefixes.count;
    Str           name         = STR_EMPTY;
    AttributeList attributes   = {0};

    if (depth >= DEPTH_MOST)
        return sim_error(xml->error, 6335,
                         "XML datatype instance has too many levels of nested nodes. Maximum "
                         "allowed depth is %d levels.",
                         DEPTH_MOST);
    xml->at++;
    if (!read_name(xml, &name) || !read_attributes(xml, &attributes) ||
        !check_prefixes(xml, name, &attributes))
        return false;
    buf_append_char(&xml->out, '<');
    buf_append(&xml->out, name);
    for (size_t i = 0; i < attributes.count; i++) {
        buf_append_char(&xml->out, ' ');
        buf_append(&xml->out, attributes.items[i].name);
        buf_append_c(&xml->out, "=\"");
        buf_append(&xml->out, attributes.items[i].value);
        buf_append_char(&xml->out, '"');
    }
    bool ok             = read_rest(xml, name, depth, space_is_kept(&attributes, keeps_space));
    xml->prefixes.count = prefix_count;
    return ok;
}

static bool read_markup(Xml *xml, int depth, bool keeps_space)
{
    if (starts(xml, "<!--")) return copy_until(xml, "-->", 9424, "incorrect comment syntax");
    if (starts(xml, "<?")) return read_instruction(xml);
    if (starts(xml, "<!DOCTYPE"))
        return sim_error(xml->error, 6359,
                         "Parsing XML with internal subset DTDs not allowed. Use CONVERT with "
                         "style option 2 to enable limited internal subset DTD support.");
    return read_element(xml, depth, keeps_space);
}

/* Up to the end tag of what is around it. */
static bool read_content(Xml *xml, int depth, bool keeps_space, bool *has_any)
{
    while (xml->at < xml->text.len) {
        if (starts(xml, "<![CDATA[")) {
            if (!read_cdata(xml)) return false;
        } else if (peek(xml) != '<') {
            if (!read_text(xml)) return false;
        } else {
            *has_any |= end_run(xml, keeps_space);
            if (starts(xml, "</")) return true;
            *has_any = true;
            if (!read_markup(xml, depth, keeps_space)) return false;
        }
    }
    *has_any |= end_run(xml, keeps_space);
    return true;
}

/* --- the declaration --- */

static bool is_eight_bit(Str encoding)
{
    return str_equal_ignoring_case(encoding, STR("utf-8")) ||
           str_equal_ignoring_case(encoding, STR("us-ascii")) ||
           str_equal_ignoring_case(encoding, STR("iso-8859-1")) ||
           str_equal_ignoring_case(encoding, STR("windows-1252"));
}

/* What it says of its encoding must be true of the text. */
static bool read_declaration(Xml *xml, bool is_unicode, Str *encoding)
{
    AttributeList attributes = {0};

    *encoding = STR_EMPTY;
    if (!starts(xml, "<?xml") || xml->text.len < 6 || !is_white((uint8_t)xml->text.ptr[5]))
        return true;
    xml->at = 5;
    for (;;) {
        Attribute one = {STR_EMPTY, STR_EMPTY};
        (void)skip_white(xml);
        if (starts(xml, "?>")) break;
        if (!read_name(xml, &one.name)) return false;
        if (peek(xml) != '=') return wrong(xml, 9414, "equal expected");
        xml->at++;
        if (!read_value(xml, &one.value)) return false;
        *LIST_PUSH(xml->arena, &attributes) = one;
        if (str_equal(one.name, STR("encoding"))) *encoding = one.value;
    }
    xml->at++;
    if (!str_is_empty(*encoding) &&
        (is_unicode ? !str_equal_ignoring_case(*encoding, STR("utf-16")) &&
                          !str_equal_ignoring_case(*encoding, STR("ucs-2"))
                    : !is_eight_bit(*encoding)))
        return wrong(xml, 9402, "unable to switch the encoding");
    xml->at++;
    return true;
}

/* --- the whole --- */

static Str text_of_bytes(const Conversion *conversion, bool *is_unicode)
{
    Bytes bytes = conversion->value->bytes;

    *is_unicode = bytes.len >= 2 && ((bytes.ptr[0] == 0xFF && bytes.ptr[1] == 0xFE) ||
                                     (bytes.ptr[0] == '<' && bytes.ptr[1] == 0));
    if (*is_unicode) {
        size_t skip = bytes.ptr[0] == 0xFF ? 2 : 0;
        return sim_text_to_utf8(conversion->arena, NULL, true,
                                (Bytes){bytes.ptr + skip, bytes.len - skip});
    }
    Str text = {(const char *)bytes.ptr, bytes.len};
    return str_starts_with(text, STR("\xEF\xBB\xBF")) ? str_slice(text, 3, text.len) : text;
}

static bool has_ascii_alone(Bytes bytes)
{
    for (size_t i = 0; i < bytes.len; i++)
        if (bytes.ptr[i] >= 0x80) return false;
    return true;
}

bool convert_to_xml(const Conversion *conversion, SimValue *out)
{
    const SimValue *value      = conversion->value;
    bool            is_binary  = sim_type_is_binary(value->type.kind);
    bool            is_unicode = sim_type_is_unicode(value->type.kind);
    Str  text = is_binary ? text_of_bytes(conversion, &is_unicode) : conversion_text(conversion);
    Xml  xml  = {.text         = text,
                 .arena        = conversion->arena,
                 .error        = conversion->error,
                 .out          = buf_new(conversion->arena, 0),
                 .run          = buf_new(conversion->arena, 0),
                 .run_is_white = true};
    Str  encoding;
    bool has_any = false, keeps_space = (conversion->style & STYLE_KEEPS_SPACE) != 0;

    if (!read_declaration(&xml, is_unicode, &encoding)) return false;
    if (!is_unicode && !is_binary && !str_is_empty(encoding) && !has_ascii_alone(value->bytes))
        return sim_not_supported(conversion->error,
                                 "XML that declares an encoding and is no ASCII");
    if (!read_content(&xml, 0, keeps_space, &has_any)) return false;
    if (xml.at < xml.text.len) {
        Str end = STR_EMPTY;
        xml.at += 2;
        return read_name(&xml, &end) && wrong(&xml, 9436, "end tag does not match start tag");
    }
    if (xml.out.overflow) return sim_not_supported(conversion->error, "XML of this size");
    out->bytes = sim_text_from_utf8(conversion->arena, NULL, true, buf_str(&xml.out));
    return true;
}
