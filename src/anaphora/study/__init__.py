"""The human study: a page that asks people, a database that keeps what they say, and how well they agree."""
