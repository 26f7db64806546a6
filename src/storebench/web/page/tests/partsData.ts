import type { Attempt, PodUsage } from "../src/api/types";
import { ATTEMPT } from "./data";

/** The figures of executors and servers that parts do not have. */
const NOT_OF_PARTS = { read_bytes: null, written_bytes: null, data_bytes: null, restarts: null };

/** A part as the API answers it. */
export const part = (number: number, changes: Partial<PodUsage> = {}): PodUsage => ({
  ...NOT_OF_PARTS,
  role: "client",
  name: `bulk-write-9f3c-${number}`,
  pods: 1,
  part: number,
  node: `node${number}`,
  memory_peak_bytes: 180_000_000,
  memory_working_set_peak_bytes: 150_000_000 + number * 1_000_000,
  cpu_s: 2.5,
  oom_kills: 0,
  throttled_s: 0,
  throttled_periods: 0,
  client_cpu_share: 0.5,
  client_cores_usable: 1,
  start_delay_s: number ? number / 10_000 : null,
  waited_s: number ? number / 10 : null,
  client_bound: false,
  ...changes,
});

export const SERVER = part(0, {
  role: "server",
  name: "mongodb-0",
  part: null,
  node: null,
  client_cpu_share: null,
  client_cores_usable: null,
  client_bound: null,
});

/** An attempt of three pods. */
export const DIVIDED: Attempt = {
  ...ATTEMPT,
  client_pods: 3,
  start_skew_s: 0.00132,
  pod: "bulk-write-9f3c-0",
};
