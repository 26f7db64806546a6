-- A rate of megabytes is in MB/s: mb/s would be another unit.
CREATE OR REPLACE FUNCTION storebench.unit(metric text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN metric ~ '(^|_)mb_per_s$' THEN 'MB/s'
        WHEN metric ~ '[^_]_per_s$' THEN substring(metric FROM '([^_]+)_per_s$') || '/s'
        WHEN metric LIKE '%\_s' THEN 's'
        WHEN metric LIKE '%\_bytes' THEN 'bytes'
        WHEN metric LIKE '%\_share' THEN 'ratio'
        ELSE ''
    END
$$;
