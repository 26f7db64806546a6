/** Advice for failed attempts, by the kind of the error. storebench.errors and storebench.airflow.outcome define the kinds. */
const ADVICE: Record<string, string> = {
  unreachable: "Check that the server runs, and that the store's Airflow Connection has its address.",
  store_failed: "The message is the store's: check its connection, then its log and its resources.",
  verification_failed:
    "The data differs from the dataset: do not trust this store's figures until the reason is known.",
  bad_spec: "The image of the pod has other code than Airflow: build the images again.",
  bad_result: "The image of the pod has other code than Airflow: build the images again.",
  servers_failed: "Give the servers smaller sizes, or more time to start.",
  server_died: "Give the server more memory or disk.",
  part_failed: "The message names the pod and its reason: read the log of that pod.",
  fault_failed: "The fault itself could not be made, or the server did not come back: read the server's log.",
  broken_promise:
    "The store lost or doubled acknowledged writes although it guarantees that it does not: repeat it, then report it to the store's makers.",
  oom_killed: "Give the pod more memory.",
  timeout: "Raise the limit of an attempt, or measure fewer rows.",
  unschedulable: "No node has room: ask for less CPU and memory, or add a node.",
  image: "Check the name of the image, and that the cluster may pull the image.",
  killed: "Something outside of the attempt ended it: measure what is missing.",
};

/** Return what a user can do about a failure of this kind. */
export const adviceFor = (kind: string | null): string =>
  ADVICE[kind ?? ""] ?? "Airflow's log of the operation has the details.";
