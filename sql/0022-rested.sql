-- How long a run was at rest: it had ended, and tasks of it were cleared in Airflow. What it took is from its start to its end without that.
ALTER TABLE storebench.run ADD COLUMN rested_s double precision NOT NULL DEFAULT 0;
