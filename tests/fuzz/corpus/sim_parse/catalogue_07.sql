DECLARE @utc  datetime2(0) = CONVERT(datetime2(0), @P1, 126);
DECLARE @here datetime2(0) = CONVERT(datetime2(0),
  @utc AT TIME ZONE N'UTC' AT TIME ZONE N'E. South America Standard Time');
SELECT CONVERT(char(22), sys.fn_cdc_map_time_to_lsn(N'largest less than or equal', IIF(@next < @here, @next, @here)), 1) AS lsn;