-- How much room left data takes in its store, as the store told it when the write had been verified; null where it is not known.

ALTER TABLE storebench.undropped ADD COLUMN bytes bigint CHECK (bytes >= 0);
