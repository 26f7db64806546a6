-- Operations that several pods do together: how long each part waited for the last part.
ALTER TABLE storebench.usage ADD COLUMN waited_s double precision;  -- from the end of this part to the end of the last part
