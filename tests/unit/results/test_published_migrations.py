"""Published migrations never change: databases that have applied a file would differ from new databases."""

import hashlib

from storebench.results.database.schema import SQL_FOLDER

PUBLISHED = """
662844344900029dcfeb8a221c2672c7da68ed8ccf738e657b09579f8b6add95  0001-schema.sql
eb1b616e449c535606fea18b582f32e98b62015514cf7325d2750693e35155f7  0002-judged.sql
8419f1cfd00191cd8833096fd720874d34d1d4355b6988d80619882fa8c01c39  0003-parts.sql
0ad55b9568a95535e640290e9ad379703d5db17b4972a415cc35de0837582edd  0004-parts-ended.sql
716c8947ca570e65512b8c0f42daeac58d01ccb01f3cd328ba3298b973760bb1  0005-per-hour.sql
147e61cd9a61985656cf93d81306e0ca835a0de8aeb3da6892451e862a333464  0006-counters.sql
737f6caea475db84ac4109183b9af17841e8c9f8459e1f30d68a5a1d6d045a25  0007-tags.sql
90b03042a5bcf3aa2c899abd69e508705dc5d23854ef21acf3d2e47aa3069ede  0008-profiles.sql
"""


def test_no_published_migration_has_changed():
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in SQL_FOLDER.glob("*.sql")}
    published = {name: digest for digest, name in map(str.split, PUBLISHED.strip().splitlines())}
    assert found == published, "Put a change into a new file of sql/, and add its line here"
