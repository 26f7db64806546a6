from storebench.web import openapi


def test_the_pages_types_are_made_of_what_the_api_says_now():
    same = openapi.PATH.read_text() == openapi.text()
    assert same, "Run `python -m storebench.web.openapi`, then `npm run types` in src/storebench/web/page"
