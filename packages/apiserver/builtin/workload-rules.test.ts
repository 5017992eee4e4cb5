/** What is refused of Deployments and their like, in the words of Kubernetes' validation. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertRefusals, builtin, filledIn, type Refusal, refusals } from "./testing.ts";

const LABELS = { app: "x" };
const template = { metadata: { labels: LABELS }, spec: { containers: [{ name: "a", image: "a" }] } };
const workload = { spec: { selector: { matchLabels: LABELS }, template } };
const negative = (field: string, value = -1): string =>
  `${field}: Invalid value: ${value}: must be greater than or equal to 0`;

/** Each of these numbers is refused below zero, and taken as zero. */
const numbers = (...names: readonly string[]): Refusal[] =>
  names.flatMap((name): Refusal[] => [
    [{ [`spec/${name}`]: -1 }, [negative(`spec.${name}`)]],
    [{ [`spec/${name}`]: 0 }, []],
  ]);

const LASTING = (kind: string): Refusal[] => [
  [
    { "spec/template/spec/restartPolicy": "Never" },
    ['spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'],
  ],
  [
    { "spec/template/spec/activeDeadlineSeconds": 1 },
    [`spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ${kind} is not Supported`],
  ],
];

const SELECTED = (maker: string): Refusal[] => [
  [
    { "spec/template/metadata": {} },
    ["spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`"],
  ],
  [
    { "spec/template/metadata/labels": { "a b": "" } },
    [
      'spec.template.metadata.labels: Invalid value: {"a b":""}: `selector` does not match template `labels`',
      'spec.template.labels: Invalid value: "a b": name part must consist of …',
    ],
  ],
  [{ "spec/selector": {} }, [`spec.selector: Invalid value: {}: empty selector is invalid for ${maker}`]],
  [{ "spec/selector": { matchExpressions: [{ key: "app", operator: "Exists" }] } }, []],
  [
    { "spec/selector": { matchLabels: { app: "-" } } },
    [
      'spec.selector.matchLabels: Invalid value: "-": a valid label must be …',
      'spec.selector: Invalid value: {"matchLabels":{"app":"-"}}: invalid label selector',
    ],
  ],
  [{ "spec/template/spec/containers": [] }, ["spec.template.spec.containers: Required value"]],
];

test("a Deployment selects its template's Pods, which last, and rolls within its bounds", () => {
  const rolling = "spec/strategy/rollingUpdate";
  assertRefusals("Deployment", workload, [
    ...numbers("replicas", "minReadySeconds", "revisionHistoryLimit"),
    [
      { "spec/progressDeadlineSeconds": -1 },
      [
        negative("spec.progressDeadlineSeconds"),
        "spec.progressDeadlineSeconds: Invalid value: -1: must be greater than minReadySeconds",
      ],
    ],
    [
      { "spec/progressDeadlineSeconds": 9, "spec/minReadySeconds": 9 },
      ["spec.progressDeadlineSeconds: Invalid value: 9: must be greater than minReadySeconds"],
    ],
    [{ "spec/progressDeadlineSeconds": 10, "spec/minReadySeconds": 9 }, []],
    ...SELECTED("deployment"),
    [
      { "spec/selector": undefined },
      [
        "spec.selector: Required value",
        'spec.template.metadata.labels: Invalid value: {"app":"x"}: `selector` does not match template `labels`',
      ],
    ],
    ...LASTING("ReplicaSet"),
    [{ "spec/strategy": { type: "Recreate" } }, []],
    [
      { "spec/strategy": { type: "Recreate", rollingUpdate: {} } },
      ["spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"],
    ],
    [
      { "spec/strategy": { type: "Slow" } },
      [
        'spec.strategy: Unsupported value: {"Type":"Slow","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate"',
      ],
    ],
    [
      { [rolling]: { maxUnavailable: 0, maxSurge: 0 } },
      ["spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0"],
    ],
    [
      { [rolling]: { maxUnavailable: "0%", maxSurge: "0%" } },
      ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0%": may not be 0 when `maxSurge` is 0'],
    ],
    [{ [rolling]: { maxUnavailable: 1, maxSurge: 0 } }, []],
    [{ [rolling]: { maxUnavailable: 0, maxSurge: "1%" } }, []],
    [{ [rolling]: { maxUnavailable: "100%", maxSurge: "101%" } }, []],
    [
      { [rolling]: { maxUnavailable: "101%", maxSurge: -1 } },
      [
        negative("spec.strategy.rollingUpdate.maxSurge"),
        'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%',
      ],
    ],
    [
      { [rolling]: { maxUnavailable: "few" } },
      ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "few": a valid percent string must be a numeric …'],
    ],
  ]);
});

test("the selector of what is there stays as it is", () => {
  const other = { matchExpressions: [{ key: "app", operator: "Exists" }] };
  for (const kind of ["Deployment", "ReplicaSet", "DaemonSet"])
    assertRefusals(
      kind,
      workload,
      [
        [{ "spec/selector": other }, [`spec.selector: Invalid value: ${JSON.stringify(other)}: field is immutable`]],
        [{ "spec/template/spec/containers": [{ name: "a", image: "b" }] }, []],
      ],
      workload,
    );
});

test("a status counts no more Pods of a sort than there are, and nothing below zero", () => {
  const status = { replicas: 2, readyReplicas: 2, availableReplicas: 2 };
  const more = (some: string): Refusal[] => [
    [{ [`status/${some}`]: 2 }, []],
    [{ [`status/${some}`]: 3 }, [`status.${some}: Invalid value: 3: cannot be greater than status.replicas`]],
    [{ [`status/${some}`]: -1 }, [negative(`status.${some}`)]],
    [{ "status/readyReplicas": 3 }, ["status.readyReplicas: Invalid value: 3: cannot be greater than status.replicas"]],
    [
      { "status/readyReplicas": 1 },
      ["status.availableReplicas: Invalid value: 2: cannot be greater than readyReplicas"],
    ],
    [
      { "status/availableReplicas": 3 },
      [
        "status.availableReplicas: Invalid value: 3: cannot be greater than status.replicas",
        "status.availableReplicas: Invalid value: 3: cannot be greater than readyReplicas",
      ],
    ],
    [{ "status/observedGeneration": -1 }, [negative("status.observedGeneration")]],
    [{ "status/terminatingReplicas": -1 }, [negative("status.terminatingReplicas")]],
    [
      { "status/readyReplicas": -1, "status/availableReplicas": -1 },
      [negative("status.readyReplicas"), negative("status.availableReplicas")],
    ],
  ];
  assertRefusals("Deployment", { ...workload, status }, [
    ...more("updatedReplicas"),
    [{ "status/unavailableReplicas": -1 }, [negative("status.unavailableReplicas")]],
    [{ "status/collisionCount": -1 }, [negative("status.collisionCount")]],
  ]);
  assertRefusals("ReplicaSet", { ...workload, status }, more("fullyLabeledReplicas"));
  const parts = ["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"];
  assertRefusals("StatefulSet", { ...workload, status }, [
    ...parts.flatMap((name): Refusal[] => [
      [{ [`status/${name}`]: 3 }, [`status.${name}: Invalid value: 3: cannot be greater than status.replicas`]],
      [{ [`status/${name}`]: 2 }, []],
      [{ [`status/${name}`]: -1 }, [negative(`status.${name}`)]],
    ]),
    [{ "status/collisionCount": -1 }, [negative("status.collisionCount")]],
    [{ "status/observedGeneration": -1 }, [negative("status.observedGeneration")]],
  ]);
});

test("a ReplicaSet is judged as a Deployment's template and count", () => {
  assertRefusals("ReplicaSet", workload, [
    ...numbers("replicas", "minReadySeconds"),
    ...SELECTED("deployment"),
    ...LASTING("ReplicaSet"),
  ]);
});

test("a ReplicationController selects by plain labels, its template's where it names none", () => {
  const base = { spec: { template } };
  const filled = filledIn(builtin("ReplicationController"), base);
  assert.deepEqual([(filled.spec as { selector: object }).selector, filled.metadata.labels], [LABELS, LABELS]);
  assertRefusals("ReplicationController", base, [
    ...numbers("replicas", "minReadySeconds"),
    ...LASTING("ReplicationController"),
    [
      { "spec/selector": { app: "y" } },
      ['spec.template.metadata.labels: Invalid value: {"app":"x"}: `selector` does not match template `labels`'],
    ],
    [{ "spec/template": undefined }, ["spec.selector: Required value", "spec.template: Required value"]],
    [{ "spec/template/metadata": {}, "spec/selector": {} }, ["spec.selector: Required value"]],
    [
      { status: { replicas: 1, fullyLabeledReplicas: 2 } },
      ["status.fullyLabeledReplicas: Invalid value: 2: cannot be greater than status.replicas"],
    ],
  ]);
  const own = filledIn(builtin("ReplicationController"), { ...base, metadata: { name: "x", labels: { b: "c" } } });
  assert.deepEqual(own.metadata.labels, { b: "c" });
});

test("a DaemonSet replaces Pods before or after, not both, and not neither", () => {
  const rolling = "spec/updateStrategy/rollingUpdate";
  const path = "spec.updateStrategy.rollingUpdate";
  assertRefusals("DaemonSet", workload, [
    ...numbers("minReadySeconds", "revisionHistoryLimit"),
    ...LASTING("DaemonSet"),
    [{ "spec/updateStrategy": { type: "OnDelete", rollingUpdate: { maxSurge: -1 } } }, []],
    [
      { "spec/updateStrategy": { type: "Slow" } },
      [
        'spec.updateStrategy: Unsupported value: {"Type":"Slow","RollingUpdate":null}: supported values: "RollingUpdate", "OnDelete"',
      ],
    ],
    [
      { [rolling]: { maxUnavailable: 0, maxSurge: 0 } },
      [`${path}.maxUnavailable: Required value: cannot be 0 when maxSurge is 0`],
    ],
    [
      { [rolling]: { maxUnavailable: 1, maxSurge: 1 } },
      [`${path}.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero`],
    ],
    [{ [rolling]: { maxUnavailable: "0%", maxSurge: "10%" } }, []],
    [
      { [rolling]: { maxUnavailable: 0, maxSurge: "101%" } },
      [`${path}.maxSurge: Invalid value: "101%": must not be greater than 100%`],
    ],
    [
      { [rolling]: { maxUnavailable: "101%", maxSurge: 0 } },
      [`${path}.maxUnavailable: Invalid value: "101%": must not be greater than 100%`],
    ],
    [{ "spec/selector": {} }, ["spec.selector: Invalid value: {}: empty selector is invalid for daemonset"]],
    [
      { "spec/selector": undefined },
      ['spec.template.metadata.labels: Invalid value: {"app":"x"}: `selector` does not match template `labels`'],
    ],
    [
      { "spec/selector": { matchExpressions: [{ key: "app", operator: "Near" }] } },
      ['spec.selector.matchExpressions[0].operator: Invalid value: "Near": not a valid selector operator'],
    ],
  ]);
});

test("a DaemonSet counts the changes of its template", () => {
  const resource = builtin("DaemonSet");
  const generation = "deprecated.daemonset.template.generation";
  const made = filledIn(resource, workload);
  assert.equal(made.metadata.annotations?.[generation], "0");
  resource.prepareCreate?.(made, 0);
  assert.equal(made.metadata.annotations?.[generation], "1");
  const after = (parts: object) => {
    const next = filledIn(resource, parts);
    resource.prepareUpdate?.(next, made, 0);
    return next.metadata.annotations?.[generation];
  };
  assert.equal(after(workload), "1");
  const spec = { containers: [{ name: "a", image: "b" }] };
  assert.equal(after({ spec: { ...workload.spec, template: { ...template, spec } } }), "2");
  const seven = filledIn(resource, { ...workload, metadata: { name: "x", annotations: { [generation]: "7" } } });
  resource.prepareCreate?.(seven, 0);
  assert.equal(seven.metadata.annotations?.[generation], "7");
});

test("a StatefulSet has an order and a way to update; the rest of it stays", () => {
  assertRefusals("StatefulSet", workload, [
    ...numbers("replicas", "minReadySeconds"),
    ...SELECTED("statefulset"),
    ...LASTING("StatefulSet"),
    [{ "spec/podManagementPolicy": "Parallel" }, []],
    [
      { "spec/podManagementPolicy": "Late" },
      ["spec.podManagementPolicy: Invalid value: \"Late\": must be 'OrderedReady' or 'Parallel'"],
    ],
    [{ "spec/updateStrategy": { type: "OnDelete" } }, []],
    [
      { "spec/updateStrategy": { type: "Slow" } },
      ['spec.updateStrategy: Invalid value: {"Type":"Slow","RollingUpdate":null}: must be …'],
    ],
  ]);
  const free = {
    ...{ "spec/replicas": 4, "spec/ordinals": { start: 1 }, "spec/template/spec/hostNetwork": true },
    ...{ "spec/updateStrategy": { type: "OnDelete" }, "spec/revisionHistoryLimit": 3, "spec/minReadySeconds": 3 },
    "spec/persistentVolumeClaimRetentionPolicy": { whenDeleted: "Delete", whenScaled: "Delete" },
  };
  assertRefusals(
    "StatefulSet",
    workload,
    [
      ...Object.entries(free).map(([path, value]): Refusal => [{ [path]: value }, []]),
      [{ "spec/serviceName": "other" }, ["spec: Forbidden: updates to statefulset spec for fields other than …"]],
      [{ "spec/podManagementPolicy": "Parallel" }, ["spec: Forbidden: updates to statefulset spec …"]],
    ],
    workload,
  );
});

test("a ControllerRevision has data that never changes", () => {
  const base = { data: { a: 1 }, revision: 1 };
  assertRefusals("ControllerRevision", base, [
    [{ data: undefined }, ["data: Required value: data is mandatory"]],
    [{ revision: -1 }, [negative("revision")]],
  ]);
  assertRefusals(
    "ControllerRevision",
    base,
    [
      [{ data: { a: 2 } }, ['data: Invalid value: {"a":2}: field is immutable']],
      [{ revision: 2 }, []],
    ],
    base,
  );
});

const jobTemplate = { spec: { ...template.spec, restartPolicy: "Never" } };
const job = {
  spec: {
    ...{ completions: 1, manualSelector: true, selector: { matchLabels: LABELS } },
    template: { metadata: { labels: LABELS }, ...jobTemplate },
  },
};
const JOB_NUMBERS = [
  ...["parallelism", "completions", "activeDeadlineSeconds", "backoffLimit"],
  ...["ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes"],
];

test("a Job runs until its work is done, by Pods that it selects", () => {
  assertRefusals("Job", job, [
    ...numbers(...JOB_NUMBERS),
    ...["Always", undefined].map(
      (policy): Refusal => [
        { "spec/template/spec/restartPolicy": policy },
        ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
      ],
    ),
    [{ "spec/template/spec/restartPolicy": "OnFailure" }, []],
    [
      { "spec/manualSelector": false },
      ['spec.selector: Invalid value: {"matchLabels":{"app":"x"}}: `selector` not auto-generated'],
    ],
    [
      {
        "spec/manualSelector": false,
        "spec/selector": { matchLabels: { "batch.kubernetes.io/controller-uid": "u-1" } },
        "spec/template/metadata/labels": { "batch.kubernetes.io/controller-uid": "u-1" },
      },
      [],
    ],
    [
      { "spec/selector": undefined },
      [
        "spec.selector: Required value",
        'spec.template.metadata.labels: Invalid value: {"app":"x"}: `selector` does not match template `labels`',
      ],
    ],
    [
      { "spec/selector/matchLabels": { app: "y" } },
      ['spec.template.metadata.labels: Invalid value: {"app":"x"}: `selector` does not match template `labels`'],
    ],
  ]);
  assertRefusals(
    "Job",
    job,
    [
      [{ "spec/parallelism": 3 }, []],
      [{ "spec/manualSelector": false }, []],
      [{ "spec/completions": 3 }, ["spec.completions: Invalid value: 3: field is immutable"]],
      [{ "spec/managedBy": "a.example/b" }, ['spec.managedBy: Invalid value: "a.example/b": field is immutable']],
      [{ "spec/backoffLimitPerIndex": 3 }, ["spec.backoffLimitPerIndex: Invalid value: 3: field is immutable"]],
      [
        { "spec/successPolicy": { rules: [] } },
        ['spec.successPolicy: Invalid value: {"rules":[]}: field is immutable'],
      ],
      [
        { "spec/podFailurePolicy": { rules: [] } },
        ['spec.podFailurePolicy: Invalid value: {"rules":[]}: field is immutable'],
      ],
      [{ "spec/template/spec/hostNetwork": true }, ["spec.template: Invalid value: {…"]],
      [{ "spec/completionMode": "Indexed" }, ['spec.completionMode: Invalid value: "Indexed": field is immutable']],
      [
        { "spec/completionMode": "Indexed", "spec/completions": 3 },
        ['spec.completionMode: Invalid value: "Indexed": field is immutable'],
      ],
    ],
    job,
  );
});

test("a Job's defaults: one Pod, six tries, its template's labels, and a selector by its own uid", () => {
  const resource = builtin("Job");
  const { manualSelector: _m, selector: _s, completions: _c, ...spec } = job.spec;
  const made = filledIn(resource, { spec });
  const { template: _t, ...filled } = made.spec as Record<string, unknown>;
  assert.deepEqual(filled, {
    ...{ completions: 1, parallelism: 1, backoffLimit: 6, completionMode: "NonIndexed", suspend: false },
    ...{ podReplacementPolicy: "TerminatingOrFailed", manualSelector: false },
  });
  assert.deepEqual(made.metadata.labels, LABELS);
  resource.prepareCreate?.(made, 0);
  const { selector, template: own } = made.spec as { selector: object; template: { metadata: { labels: object } } };
  assert.deepEqual(selector, { matchLabels: { "batch.kubernetes.io/controller-uid": "u-1" } });
  assert.deepEqual(own.metadata.labels, {
    ...{ "job-name": "x", "batch.kubernetes.io/job-name": "x" },
    ...{ "controller-uid": "u-1", "batch.kubernetes.io/controller-uid": "u-1", app: "x" },
  });
  const specOf = (more: object) => filledIn(resource, { spec: { ...spec, ...more } }).spec as Record<string, unknown>;
  assert.equal(specOf({ parallelism: 2 }).completions, undefined, "as many as it takes");
  assert.equal(specOf({ backoffLimitPerIndex: 1 }).backoffLimit, 2 ** 31 - 1);
  assert.equal(specOf({ podFailurePolicy: { rules: [] } }).podReplacementPolicy, "Failed");
  const labelled = filledIn(resource, { spec, metadata: { name: "x", labels: { b: "c" } } });
  assert.deepEqual(labelled.metadata.labels, { b: "c" });
});

test("a CronJob has a schedule of five fields, a name with room for its Jobs', and a Job that selects by itself", () => {
  const base = { spec: { schedule: "0 3 * * *", jobTemplate: { spec: { template: jobTemplate } } } };
  const name = (length: number) => ({ name: "x".repeat(length) });
  assertRefusals("CronJob", base, [
    ...numbers("startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"),
    [{ "spec/schedule": "" }, ["spec.schedule: Required value"]],
    [{ "spec/schedule": "@daily" }, []],
    [
      { "spec/schedule": "0 3  *" },
      ['spec.schedule: Invalid value: "0 3  *": expected exactly 5 fields, found 3: [0 3 *]'],
    ],
    [{ "spec/jobTemplate/spec/backoffLimit": -1 }, [negative("spec.jobTemplate.spec.backoffLimit")]],
    [
      { "spec/jobTemplate/spec/selector": {} },
      ["spec.jobTemplate.spec.selector: Invalid value: {}: `selector` will be auto-generated"],
    ],
    [
      { "spec/jobTemplate/spec/template/spec/restartPolicy": "Always" },
      ['spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
    ],
    [{ metadata: name(52) }, []],
    [{ metadata: name(53) }, [`metadata.name: Invalid value: "${"x".repeat(53)}": must be no more than 52 characters`]],
  ]);
  assert.deepEqual(refusals("CronJob", { ...base, metadata: name(53) }, { ...base, metadata: name(53) }), []);
  const { spec } = filledIn(builtin("CronJob"), base) as unknown as {
    spec: { jobTemplate: { spec: Record<string, unknown> } };
  };
  assert.equal(spec.jobTemplate.spec.backoffLimit, undefined, "the Job gets its defaults when it is made");
});
