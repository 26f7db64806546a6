-- The busiest of the services in front of a store that a run has brought: cores that it kept busy, and cores that it can use. The view
-- `results` marks an attempt whose service was the limit (service_bound), as it marks one whose client was.
ALTER TABLE storebench.attempt
    ADD COLUMN service_cpu_share double precision,
    ADD COLUMN service_cores_usable double precision;
