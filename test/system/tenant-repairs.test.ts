/** What users get wrong, on tenants that run embedded and as Pods of a simulated cluster. As processes: `test/kubernetes/tenant-repairs.test.ts`. */
import { everyRepair } from "./tenant-repairs.ts";

for (const runs of ["embedded", "deployment"]) everyRepair({ name: runs, runs, version: "v1.33.0" });
