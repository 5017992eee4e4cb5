import { template, workload } from "../samples/kinds.ts";
import { del, type Family, get, type Json, MERGE, patch, post, put, step } from "../step.ts";

const NAME = "pods";
const NS = `diff-${NAME}`;
const PODS = `/api/v1/namespaces/${NS}/pods`;
const PDBS = `/apis/policy/v1/namespaces/${NS}/poddisruptionbudgets`;
const dry = { query: { dryRun: "All" } };
const one = { name: "a", image: "i:1", resources: { limits: { cpu: "1" } } };
const pod = (name: string, more: Json = {}): Json => ({
  metadata: { name, labels: { app: "x" } },
  spec: { containers: [one], ...more },
});
const eviction = (name: string, more: Json = {}): Json => ({
  apiVersion: "policy/v1",
  kind: "Eviction",
  metadata: { name },
  ...more,
});
const status = (body: Json) => patch(`${PODS}/a/status`, MERGE, { status: body });

const family: Family = {
  name: NAME,
  steps: [
    step(post(PODS, pod("a", { hostNetwork: true, containers: [{ ...one, ports: [{ containerPort: 80 }] }] }))),
    step(post(PODS, pod("b", { priorityClassName: "system-node-critical" }), dry)),
    step(
      post(
        PODS,
        pod("b", {
          tolerations: [{ key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute" }],
          volumes: [{ name: "v" }, { name: "s", secret: { secretName: "x" } }, { name: "h", hostPath: { path: "/x" } }],
          initContainers: [
            { name: "i", image: "i", resources: { limits: { memory: "1Gi" }, requests: { cpu: "5m" } } },
          ],
        }),
        dry,
      ),
    ),
    step(
      post(
        PODS,
        pod("b", {
          containers: [
            {
              ...one,
              livenessProbe: { httpGet: { port: 80 } },
              readinessProbe: { tcpSocket: { port: "web" }, periodSeconds: 5 },
              startupProbe: { grpc: { port: 5 } },
              lifecycle: { preStop: { httpGet: { port: 81 } } },
              env: [{ name: "E", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
              ports: [{ name: "web", containerPort: 80 }],
            },
            { name: "b", image: "x@sha256:abc", resources: { requests: { cpu: "100m", memory: "0.5Gi" } } },
            { name: "c", image: "host:5000/x" },
          ],
        }),
        dry,
      ),
    ),
    // What may change of a Pod, and what may not.
    ...[
      { spec: { activeDeadlineSeconds: 50 } },
      { spec: { activeDeadlineSeconds: 60 } },
      { spec: { terminationGracePeriodSeconds: 5 } },
      { spec: { restartPolicy: "Never" } },
      { spec: { nodeSelector: { a: "b" } } },
      { spec: { tolerations: [] } },
      { metadata: { labels: { more: "y" } } },
      { spec: { nodeName: "n" } },
      { spec: { hostname: "h" } },
      { status: { phase: "Running" } },
    ].map((body) => step(patch(`${PODS}/a`, MERGE, body))),
    // Status has a door of its own.
    step(status({ phase: "Running", conditions: [{ type: "Ready", status: "True" }] })),
    step(status({ podIP: "10.0.0.1", podIPs: [{ ip: "10.0.0.1" }], containerStatuses: [{ name: "a", ready: true }] })),
    step(patch(`${PODS}/a/status`, MERGE, { spec: { hostname: "h" }, metadata: { labels: { z: "z" } } })),
    step(get(`${PODS}/a/status`)),
    step(post(`${PODS}/a/status`, {})),
    step(del(`${PODS}/a/status`)),
    // Binding.
    step(post(PODS, pod("bound"))),
    step(post(`${PODS}/bound/binding`, { target: {} })),
    step(post(`${PODS}/bound/binding`, { metadata: { name: "bound" }, target: { kind: "Service", name: "n" } })),
    step(post(`${PODS}/bound/binding`, { metadata: { name: "other" }, target: { kind: "Node", name: "n" } })),
    step(post(`${PODS}/bound/binding`, { metadata: { name: "bound" }, target: { kind: "Node", name: "n" } })),
    step(get(`${PODS}/bound`)),
    step(post(`${PODS}/bound/binding`, { metadata: { name: "bound" }, target: { kind: "Node", name: "m" } })),
    step(post(`${PODS}/absent/binding`, { metadata: { name: "absent" }, target: { kind: "Node", name: "n" } })),
    step(get(`${PODS}/bound/binding`)),
    // Eviction, without and with a budget.
    step(post(`${PODS}/absent/eviction`, eviction("absent"))),
    step(post(`${PODS}/a/eviction`, eviction("other"))),
    step(post(`${PODS}/a/eviction`, {})),
    step(post(`${PODS}/a/eviction`, { apiVersion: "v1", kind: "Pod", metadata: { name: "a" } })),
    step(post(`${PODS}/a/eviction`, eviction("a"), dry)),
    step(post(`${PODS}/a/eviction`, eviction("a", { deleteOptions: { preconditions: { uid: "u" } } }))),
    step(post(PDBS, { metadata: { name: "p" }, spec: { minAvailable: 1, selector: { matchLabels: { app: "x" } } } })),
    step(post(`${PODS}/a/eviction`, eviction("a"), dry)),
    step(
      patch(`${PDBS}/p/status`, MERGE, { status: { observedGeneration: 1, disruptionsAllowed: 0, expectedPods: 1 } }),
    ),
    step(post(`${PODS}/a/eviction`, eviction("a"))),
    step(post(PDBS, { metadata: { name: "q" }, spec: { selector: { matchLabels: { app: "x" } } } })),
    step(post(`${PODS}/a/eviction`, eviction("a"))),
    step(del(`${PDBS}/q`)),
    step(patch(`${PDBS}/p/status`, MERGE, { status: { disruptionsAllowed: 1, desiredHealthy: 0, currentHealthy: 1 } })),
    step(post(`${PODS}/a/eviction`, eviction("a", { deleteOptions: { gracePeriodSeconds: 0 } }))),
    step(get(`${PODS}/a`), { unseen: true }),
    step(get(`${PDBS}/p`)),
    // Deletion with grace.
    step(del(`${PODS}/bound`, { gracePeriodSeconds: 20 })),
    step(del(`${PODS}/bound`, { gracePeriodSeconds: 10 })),
    step(del(`${PODS}/bound`)),
    step(post(`${PODS}/bound/eviction`, eviction("bound"))),
    step(del(`${PODS}/bound`, { gracePeriodSeconds: 0 })),
    step(get(`${PODS}/bound`)),
    step(put(`${PODS}/absent`, pod("absent"))),
    step(post(PODS, { metadata: { generateName: "gen-" }, spec: { containers: [one] } })),
    step(post(PODS, { ...template, metadata: { name: "t", labels: workload.selector.matchLabels } })),
  ],
};
export default family;
