"""Register the results page with Airflow: in the navigation, on each study's DAG and on its runs."""

from typing import Any, ClassVar

from airflow.plugins_manager import AirflowPlugin

PREFIX = "/storebench"


async def results(scope: Any, receive: Any, send: Any) -> None:
    """Serve the results page. The first request imports the application: all processes of Airflow load plugins, also tasks."""
    from storebench.web.api import app

    await app(scope, receive, send)


class StorebenchResults(AirflowPlugin):
    """The plugin with the results page. Only the API server uses it."""

    name = "storebench_results"
    fastapi_apps: ClassVar[list[Any]] = [{"app": results, "url_prefix": PREFIX, "name": "Storebench results"}]
    react_apps: ClassVar[list[Any]] = [
        {
            "name": "Results",  # also the name of the component in page/src/page.tsx
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
