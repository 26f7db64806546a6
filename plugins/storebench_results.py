"""Shows the results in Airflow's UI: a page in the navigation, on each study's DAG and on its runs."""

from typing import Any, ClassVar

from airflow.plugins_manager import AirflowPlugin

PREFIX = "/storebench"


async def results(scope: Any, receive: Any, send: Any) -> None:
    """The page's application. Imported by the first request: all of Airflow's processes load plugins, its tasks among them."""
    from storebench.web.api import app

    await app(scope, receive, send)


class StorebenchResults(AirflowPlugin):
    """Used by the API server alone."""

    name = "storebench_results"
    fastapi_apps: ClassVar[list[Any]] = [{"app": results, "url_prefix": PREFIX, "name": "Storebench results"}]
    react_apps: ClassVar[list[Any]] = [
        {
            "name": "Results",  # the component's name, too: page/src/page.tsx
            "bundle_url": f"{PREFIX}/static/page.js",
            "destination": destination,
            "url_route": route,
            **({"nav_top_level": True} if destination == "nav" else {}),
        }
        for destination, route in (
            ("nav", "storebench"),
            ("dag", "storebench-dag"),
            ("dag_run", "storebench-run"),
        )
    ]
