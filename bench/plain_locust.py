"""The smallest users of Locust, as in its documentation, which send entities at a high rate. Run by bench.load."""

from locust import FastHttpUser, HttpUser, task

from storebench.stores.point_operations.entities import entity

PATH = "/tables/storebench_bench/entities?consistency=one"
ENTITY = entity(1, 1)
BODY = {**ENTITY._asdict(), "id": str(ENTITY.id)}


class Plain(HttpUser):
    @task
    def write(self) -> None:
        self.client.post(PATH, json=BODY)


class Fast(FastHttpUser):
    @task
    def write(self) -> None:
        self.client.post(PATH, json=BODY)
