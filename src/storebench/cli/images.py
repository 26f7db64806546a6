"""The command that lists the images of runs."""

from __future__ import annotations

import click


@click.command()
@click.option("--study", "names", metavar="NAME", multiple=True, help="Only of this study. Repeatable.")
def images(names: tuple[str, ...]) -> None:
    """List the images of this project that runs need.

    Each line is a folder below images/. Without --study, the list has the images of all studies. Images of a server's publisher are not in
    the list: the cluster pulls them.
    """
    from storebench.planning.images import of_study
    from storebench.study import studies

    for image in sorted(set().union(*(of_study(studies.find(name)) for name in names or studies.names()))):
        click.echo(image)
