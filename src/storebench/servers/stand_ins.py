"""The images of servers that the embedded stack builds, and the topologies in which an image can stand in for the publisher's."""

from __future__ import annotations

from pathlib import Path

from storebench.errors import SpecError

SERVER_IMAGES = Path(__file__).resolve().parents[3] / "images" / "servers"  # in the checkout
LISTING = "topologies.txt"  # in an image's folder: the topologies in which the image can stand in; without the file, all topologies
ADVICE = (
    "With a cluster of your own, the topology's own image is used. Or name one that the embedded cluster has by the Airflow Variable"
    " storebench_image_servers_{}"
)


def check(image: str, topology: str) -> None:
    """Check that the stack has an image of this name, and that the image can be a server of the topology. Raises SpecError."""
    advice = ADVICE.format(image.replace("-", "_"))
    if not (SERVER_IMAGES / image).is_dir():
        raise SpecError(
            f"The embedded stack has no image of the server {image}: there is no folder images/servers/{image}. {advice}"
        )
    listing = SERVER_IMAGES / image / LISTING
    if listing.exists() and topology not in (known := listing.read_text().split()):
        raise SpecError(
            f"The embedded stack cannot provision {image}@{topology}: its image only stands in for the publisher's, and only in"
            f" {' and '.join(f'{image}@{name}' for name in known)}. {advice}"
        )
