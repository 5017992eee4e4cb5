/** For tests: what is wanted of a tenant with these changes of the shortest specification. */
import { completeSpec } from "../../kinds/kamaji/defaults.ts";
import { tenant as tenantWith } from "../../kinds/kamaji/testing.ts";
import { type TestPlane, testPlane } from "../testing.ts";
import type { Wanted } from "./wanted.ts";

let made: Promise<TestPlane> | undefined;

/** What is wanted of a tenant; its control plane's keys are made once and shared. */
export async function wantedOf(over: object = {}): Promise<Wanted> {
  made ??= testPlane("a", { host: "192.0.2.10", port: 6443 });
  const { plane } = await made;
  const tenant = tenantWith(over);
  const spec = completeSpec(tenant);
  const { version } = spec.kubernetes;
  const { replicas, extraArgs = {} } = spec.controlPlane.deployment;
  const { apiServer = [], controllerManager = [], scheduler = [] } = extraArgs;
  const store = { endpoints: ["https://etcd:2379"], prefix: "/u", tls: { ca: "CA", cert: "CERT", key: "KEY" } };
  const server = spec.addons?.konnectivity?.server;
  return {
    tenant,
    spec,
    plane: {
      ...{ ...plane, version, replicas, store, extraArgs: { apiServer, controllerManager, scheduler } },
      ...(server !== undefined && {
        konnectivity: { port: server.port, kubeconfig: "KUBECONFIG", extraArgs: server.extraArgs ?? [] },
      }),
    },
  };
}
