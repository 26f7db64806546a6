"""A study to begin with: one store, one axis."""

from storebench.airflow.dag import study_dag
from storebench.grid import BATCH_SIZE, Study

TOY_STUDY = Study(
    name="toy_study",
    description="""Write a 50-field CSV into S3 as lines of JSON, then read it back.

Each batch is one object. Every attempt is verified, and a row of the table `storebench.results` in Postgres.""",
    stores=("toy",),
    default_stores=("toy",),
    default_rows=2_000,
    axes=(BATCH_SIZE,),
)

dag = study_dag(TOY_STUDY)
