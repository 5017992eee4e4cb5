/** Pods: what is refused of their spec, in the words of Kubernetes' validation; what they are given; what stays. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertRefusals, builtin, filledIn, type Refusal } from "./testing.ts";

const c = (name: string, more: object = {}) => ({ name, image: "a:1", ...more });
const base = { spec: { containers: [c("a")] } };
const LABEL = "a lowercase RFC 1123 label …";
const SUBDOMAIN = "a lowercase RFC 1123 subdomain …";
const named = (field: string, rule: string): Refusal[] => [
  [{ [`spec/${field}`]: "A" }, [`spec.${field}: Invalid value: "A": ${rule}`]],
  [{ [`spec/${field}`]: "" }, []],
  [{ [`spec/${field}`]: "a" }, []],
];

test("names in a Pod's spec are names, and its containers differ by theirs", () => {
  assertRefusals("Pod", base, [
    ...named("nodeName", SUBDOMAIN),
    ...named("hostname", LABEL),
    ...named("subdomain", LABEL),
    ...named("priorityClassName", SUBDOMAIN),
    ...named("runtimeClassName", SUBDOMAIN),
    ...named("serviceAccountName", SUBDOMAIN),
    [
      { "spec/nodeSelector": { "a b": "-" } },
      [
        'spec.nodeSelector: Invalid value: "a b": name part must …',
        'spec.nodeSelector: Invalid value: "-": a valid label must be …',
      ],
    ],
    [
      { "spec/readinessGates": [{ conditionType: "a b" }] },
      ['spec.readinessGates[0].conditionType: Invalid value: "a b": name part must …'],
    ],
    [{ "spec/containers": [c("a"), c("a")] }, ['spec.containers[1].name: Duplicate value: "a"']],
    [{ "spec/initContainers": [c("b"), c("b")] }, ['spec.initContainers[1].name: Duplicate value: "b"']],
    [{ "spec/initContainers": [c("a")] }, ['spec.initContainers[0].name: Duplicate value: "a"']],
    [{ "spec/initContainers": [c("b")] }, []],
    [
      { "spec/activeDeadlineSeconds": 0 },
      ["spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive"],
    ],
    [{ "spec/activeDeadlineSeconds": 1 }, []],
    [{ "spec/activeDeadlineSeconds": 2 ** 31 - 1 }, []],
    [
      { "spec/activeDeadlineSeconds": 2 ** 31 },
      ["spec.activeDeadlineSeconds: Invalid value: 2147483648: must be between 1 and 2147483647, inclusive"],
    ],
    [
      { "spec/hostAliases": [{ ip: "10.0.0.1" }, { ip: "x" }] },
      ['spec.hostAliases[1].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
    ],
  ]);
});

test("an init container is watched only where it goes on beside the others", () => {
  const probe = { exec: { command: ["x"] } };
  const why = "may not be set for init containers without restartPolicy=Always";
  assertRefusals("Pod", base, [
    ...["livenessProbe", "readinessProbe", "startupProbe"].map(
      (name): Refusal => [
        { "spec/initContainers": [c("b", { [name]: probe })] },
        [`spec.initContainers[0].${name}: Forbidden: ${why}`],
      ],
    ),
    [
      { "spec/initContainers": [c("b", { lifecycle: { preStop: probe } })] },
      [`spec.initContainers[0].lifecycle: Forbidden: ${why}`],
    ],
    [{ "spec/initContainers": [c("b", { restartPolicy: "Always", livenessProbe: probe })] }, []],
    [
      { "spec/initContainers": [c("b", { restartPolicy: "Always", livenessProbe: {} })] },
      ["spec.initContainers[0].livenessProbe: Required value: must specify a handler type"],
    ],
  ]);
});

test("a volume has one source with what it needs, and a name of its own", () => {
  const volumes = (...of: object[]) => ({ "spec/volumes": of });
  assertRefusals("Pod", base, [
    [volumes({ name: "v" }), []],
    [
      volumes({ name: "v", emptyDir: {}, hostPath: { path: "/a" } }),
      ["spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type"],
    ],
    [volumes({ name: "V" }), [`spec.volumes[0].name: Invalid value: "V": ${LABEL}`]],
    [volumes({ emptyDir: {} }), ["spec.volumes[0].name: Required value"]],
    [volumes({ name: "v" }, { name: "v" }), ['spec.volumes[1].name: Duplicate value: "v"']],
    [volumes({ name: "v", secret: {} }), ["spec.volumes[0].secret.secretName: Required value"]],
    [volumes({ name: "v", configMap: {} }), ["spec.volumes[0].configMap.name: Required value"]],
    [
      volumes({ name: "v", persistentVolumeClaim: {} }),
      ["spec.volumes[0].persistentVolumeClaim.claimName: Required value"],
    ],
    [volumes({ name: "v", csi: {} }), ["spec.volumes[0].csi.driver: Required value"]],
  ]);
});

test("a toleration names a taint, or with Exists any", () => {
  const tolerations = (of: object) => ({ "spec/tolerations": [of] });
  const path = "spec.tolerations[0]";
  assertRefusals("Pod", base, [
    [tolerations({ key: "a", operator: "Equal", value: "b", effect: "NoExecute", tolerationSeconds: 1 }), []],
    [tolerations({ operator: "Exists" }), []],
    [
      tolerations({ operator: "Equal", value: "b" }),
      [
        `${path}.operator: Invalid value: "Equal": operator must be Exists when \`key\` is empty, which means "match all values and all keys"`,
      ],
    ],
    [tolerations({ key: "a b" }), [`${path}.key: Invalid value: "a b": name part must …`]],
    [
      tolerations({ key: "a", effect: "NoSchedule", tolerationSeconds: 1 }),
      [`${path}.effect: Invalid value: "NoSchedule": effect must be 'NoExecute' when \`tolerationSeconds\` is set`],
    ],
    [
      tolerations({ key: "a", operator: "Exists", value: "b" }),
      [`${path}.operator: Invalid value: "b": value must be empty when \`operator\` is 'Exists'`],
    ],
    [tolerations({ key: "a", value: "-" }), [`${path}.operator: Invalid value: "-": a valid label must be …`]],
    [
      tolerations({ key: "a", operator: "Equal", value: "-" }),
      [`${path}.operator: Invalid value: "-": a valid label must be …`],
    ],
    [
      tolerations({ key: "a", operator: "Near" }),
      [`${path}.operator: Unsupported value: "Near": supported values: "Equal", "Exists"`],
    ],
    [
      tolerations({ key: "a", effect: "Never" }),
      [`${path}.effect: Unsupported value: "Never": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`],
    ],
  ]);
});

test("what is asked of a Pod's containers decides how it is served when memory is short", () => {
  const pod = builtin("Pod");
  const classOf = (...resources: object[]) => {
    const containers = resources.map((of, i) => c(`c${i}`, { resources: of }));
    const object = filledIn(pod, { spec: { containers } });
    pod.prepareCreate?.(object, 0);
    return (object.status as { qosClass: string }).qosClass;
  };
  const whole = { cpu: "1", memory: "1Gi" };
  assert.equal(classOf({}, {}), "BestEffort");
  assert.equal(classOf({ limits: { "example.com/a": "1" } }), "BestEffort");
  assert.equal(classOf({ limits: whole }), "Guaranteed");
  assert.equal(classOf({ limits: whole }, {}), "Burstable");
  assert.equal(classOf({ limits: { cpu: "1" } }), "Burstable");
  assert.equal(classOf({ limits: { memory: "1" } }), "Burstable");
  assert.equal(classOf({ requests: { memory: "1" } }), "Burstable");
  assert.equal(classOf({ requests: { cpu: "500m", memory: "1Gi" }, limits: whole }), "Burstable");
});

test("a Pod that is running has time to end: its own, else half a minute", () => {
  const grace = (spec: object, phase = "Running") =>
    builtin("Pod").gracePeriodSeconds?.({ metadata: { name: "x" }, spec, status: { phase } } as never);
  assert.equal(grace({ nodeName: "n" }), 30);
  assert.equal(grace({ nodeName: "n", terminationGracePeriodSeconds: 7 }), 7);
  assert.equal(grace({}), 0);
  assert.equal(grace({ nodeName: "n" }, "Succeeded"), 0);
  assert.equal(grace({ nodeName: "n" }, "Failed"), 0);
});

test("Pods are found by where and how they run", () => {
  const { selectableFields: fields = {} } = builtin("Pod");
  const pod = {
    metadata: { name: "x" },
    spec: { nodeName: "n", restartPolicy: "Never", schedulerName: "s", serviceAccountName: "a", hostNetwork: true },
    status: { phase: "Running", podIP: "10.0.0.1", podIPs: [{ ip: "10.0.0.1" }], nominatedNodeName: "m" },
  } as never;
  const found = Object.fromEntries(Object.entries(fields).map(([name, of]) => [name, of(pod)]));
  assert.deepEqual(found, {
    ...{ "spec.nodeName": "n", "spec.restartPolicy": "Never", "spec.schedulerName": "s" },
    ...{ "spec.serviceAccountName": "a", "spec.hostNetwork": "true", "status.phase": "Running" },
    ...{ "status.podIP": "10.0.0.1", "status.podIPs": "", "status.nominatedNodeName": "m" },
  });
  assert.equal(fields["spec.hostNetwork"]!({ metadata: { name: "x" } } as never), "false");
});

test("a name that is no host name, and a Secret without a name, are advised against when the Pod is new", () => {
  const pod = builtin("Pod");
  const warnings = (parts: object, old?: object) =>
    pod.warnings?.(filledIn(pod, parts), old === undefined ? undefined : filledIn(pod, old));
  const dotted = { ...base, metadata: { name: "a.b" } };
  assert.match(warnings(dotted)![0]!, /^metadata\.name: this is used in the Pod's hostname, which can result in .*\[/);
  assert.deepEqual(warnings(dotted, dotted), []);
  const secrets = (...imagePullSecrets: object[]) => ({ spec: { ...base.spec, imagePullSecrets } });
  assert.deepEqual(warnings(secrets({ name: "a" }, {}, { name: "" })), [
    'spec.imagePullSecrets[1].name: invalid empty name ""',
    'spec.imagePullSecrets[2].name: invalid empty name ""',
  ]);
});

test("of a Pod that is there only images, a sooner deadline and more tolerations may change", () => {
  const tolerations = [{ key: "a", operator: "Exists", tolerationSeconds: 5, effect: "NoExecute" }];
  const running = { spec: { containers: [c("a")], initContainers: [c("i")], activeDeadlineSeconds: 9, tolerations } };
  const deadline = (value: unknown, why: string) => `spec.activeDeadlineSeconds: Invalid value: ${value}: ${why}`;
  const fixed = ["spec: Forbidden: pod updates may not change fields other than …"];
  assertRefusals(
    "Pod",
    running,
    [
      [{ "spec/containers": [c("a", { image: "b:1" })] }, []],
      [{ "spec/initContainers": [c("i", { image: "b:1" })] }, []],
      [
        { "spec/containers": [c("a"), c("b")] },
        ["spec.containers: Forbidden: pod updates may not add or remove containers"],
      ],
      [{ "spec/initContainers": [] }, ["spec.initContainers: Forbidden: pod updates may not add or remove containers"]],
      [{ "spec/activeDeadlineSeconds": 8 }, []],
      [{ "spec/activeDeadlineSeconds": 10 }, [deadline(10, "must be less than or equal to previous value")]],
      [
        { "spec/activeDeadlineSeconds": undefined },
        [deadline(null, "must not update from a positive integer to nil value")],
      ],
      [{ "spec/tolerations": [...tolerations, { key: "b", operator: "Exists" }] }, []],
      [{ "spec/tolerations": [{ ...tolerations[0], tolerationSeconds: 6 }] }, []],
      [
        { "spec/tolerations": [{ key: "b", operator: "Exists" }] },
        ["spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds"],
      ],
      [{ "spec/containers": [c("a", { command: ["x"] })] }, fixed],
      [{ "spec/hostNetwork": true }, fixed],
      [{ "spec/nodeSelector": { a: "b" } }, fixed],
      [{ "spec/nodeName": "n" }, fixed],
    ],
    running,
  );
  const gated = { spec: { ...base.spec, schedulingGates: [{ name: "a.example/b" }] } };
  assertRefusals(
    "Pod",
    gated,
    [
      [{ "spec/nodeSelector": { a: "b" } }, []],
      [{ "spec/schedulingGates": undefined }, []],
      [{ "spec/affinity": { nodeAffinity: {} } }, []],
      [{ "spec/hostNetwork": true }, fixed],
    ],
    gated,
  );
  const scheduled = { status: { conditions: [{ type: "PodScheduled", status: "True" }] } };
  assertRefusals(
    "Pod",
    base,
    [
      [{ "spec/nodeName": "n", ...scheduled }, []],
      [{ "spec/nodeName": "n", status: { conditions: [{ type: "PodScheduled", status: "False" }] } }, fixed],
    ],
    base,
  );
});
