-- Rates per hour. Return the unit of a metric by the end of its name, like storebench.study.model.unit_of.
CREATE OR REPLACE FUNCTION storebench.unit(metric text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN metric ~ '(^|_)mb_per_[sh]$' THEN 'MB/' || right(metric, 1)
        WHEN metric ~ '[^_]_per_[sh]$' THEN substring(metric FROM '([^_]+)_per_[sh]$') || '/' || right(metric, 1)
        WHEN metric LIKE '%\_s' THEN 's'
        WHEN metric LIKE '%\_bytes' THEN 'bytes'
        WHEN metric LIKE '%\_share' THEN 'ratio'
        ELSE ''
    END
$$;
