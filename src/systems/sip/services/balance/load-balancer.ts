/** A load balancer's Service, Secret and Deployment. Pure. */
import { Fault } from "@slipway/base";
import type { LoadBalancerControlPlane, LoadBalancerWorker } from "../../../../kinds/sip/services.ts";
import { CONTROL_PLANE, WORKER } from "../../names.ts";
import { checkedPort, checksumOf, dataOf, type Entry, metadataOf, nameOf, pathOf } from "../entry.ts";
import type { ServiceHost } from "../host.ts";
import { deploymentOf, type ServicePort, serviceOf } from "../pods.ts";
import type { Rendered } from "../rendered.ts";
import { type BackendServer, type Balancing, HARD_STOP_SECONDS, haproxyConfig } from "./haproxy-config.ts";

/** Where an image is left empty, as the original has it. */
const IMAGE = "haproxy:2.3.2";
const API_PORT = 6443;
const MOST_PORTS = 1_000;
const FIRST_HEALTH_PORT = 8404;
/** Nobody's. */
const UID = 65_534;

/**
 * The objects of a load balancer before the control plane: port 6443, health by `/readyz`. Throws a `Fault` (`Invalid`) for a port that is none.
 * `hosted`: where the API of a hosted control plane is; it is balanced over where no host has the role.
 */
export function controlPlaneBalancer(
  entry: Entry,
  fields: LoadBalancerControlPlane,
  hosts: readonly ServiceHost[],
  hosted?: BackendServer,
): Rendered {
  const nodePort = checkedPort(fields.nodePort, `${pathOf(entry)}.nodePort`, 0);
  const ports = [{ name: "http", port: API_PORT, nodePort }];
  return balancer(entry, fields, { ports, hosts, hosted, role: CONTROL_PLANE, check: "apiserver" });
}

/** The objects of a load balancer before the workers: a port for each of the range. Throws a `Fault` (`Invalid`) for a range that can't be. */
export function workerBalancer(entry: Entry, fields: LoadBalancerWorker, hosts: readonly ServiceHost[]): Rendered {
  const { start, end } = fields.nodePortRange;
  const on = `${pathOf(entry)}.nodePortRange`;
  checkedPort(start, `${on}.start`);
  checkedPort(end, `${on}.end`);
  if (end < start) throw new Fault("Invalid", on, `it ends at ${end}, before its start ${start}`);
  if (end - start >= MOST_PORTS) throw new Fault("Invalid", on, `more than ${MOST_PORTS} ports`);
  const ports = Array.from({ length: end - start + 1 }, (_, at) => start + at).map((port) => ({
    ...{ name: `port-${port}`, port, nodePort: port },
  }));
  return balancer(entry, fields, { ports, hosts, role: WORKER, check: "connect" });
}

interface Balanced {
  ports: readonly ServicePort[];
  hosts: readonly ServiceHost[];
  hosted?: BackendServer | undefined;
  role: string;
  check: Balancing["check"];
}

function balancer(
  entry: Entry,
  fields: LoadBalancerControlPlane | LoadBalancerWorker,
  { ports, hosts, hosted, role, check }: Balanced,
): Rendered {
  const own = hosts
    .filter((host) => host.role === role)
    .map((host): BackendServer => ({ name: host.unique, address: host.addresses[fields.nodeInterfaceId ?? ""]! }));
  const servers = own.length === 0 && hosted !== undefined ? [hosted] : own;
  const taken = new Set(ports.map(({ port }) => port));
  let healthPort = FIRST_HEALTH_PORT;
  while (taken.has(healthPort)) healthPort++;
  const config = haproxyConfig({ ports, servers, check, healthPort });
  const secret = {
    ...{ apiVersion: "v1", kind: "Secret", type: "Opaque", metadata: metadataOf(entry) },
    data: dataOf({ "haproxy.cfg": config }),
  };
  const probe = { httpGet: { path: "/healthz", port: healthPort } };
  const container = {
    ...{ name: "loadbalancer", image: fields.image || IMAGE, imagePullPolicy: "IfNotPresent" },
    ports: ports.map(({ name, port }) => ({ name, containerPort: port, protocol: "TCP" })),
    // By then HAProxy has checked its servers once: one that fails gets nothing from the beginning.
    readinessProbe: { ...probe, periodSeconds: 5, initialDelaySeconds: 2 },
    livenessProbe: { ...probe, periodSeconds: 10, initialDelaySeconds: 10 },
    resources: { requests: { cpu: "10m", memory: "32Mi" } },
    securityContext: {
      ...{ allowPrivilegeEscalation: false, runAsNonRoot: true, runAsUser: UID, readOnlyRootFilesystem: true },
      capabilities: { drop: ["ALL"] },
    },
    volumeMounts: [{ name: "config", mountPath: "/usr/local/etc/haproxy", readOnly: true }],
  };
  const deployment = deploymentOf(entry, fields, {
    configuration: checksumOf([secret]),
    containers: [container],
    volumes: [{ name: "config", secret: { secretName: nameOf(entry) } }],
    // HAProxy itself ends connections that last longer.
    graceSeconds: HARD_STOP_SECONDS + 5,
  });
  return {
    service: serviceOf(entry, ports),
    secrets: [secret],
    configMaps: [],
    deployment,
    servers: servers.map(({ address }) => address),
  };
}
