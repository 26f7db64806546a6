-- What a read hands to the program: one that gets every field decoded is not compared with one that gets bytes.

ALTER TABLE storebench.attempt ADD COLUMN delivers text;
