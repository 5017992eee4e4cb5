import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { loadAll } from "js-yaml";
import { SERVED } from "../cluster-api/kinds.ts";
import type { Kind } from "../kind.ts";
import { PLUNDER_KINDS } from "../plunder/kinds.ts";
import { convertedFile } from "./convert.ts";

const KINDS: readonly (readonly Kind[])[] = [...SERVED, ...PLUNDER_KINDS];
const EXAMPLES = new URL("../../../examples/plunder/", import.meta.url);
const example = (name: string): string => readFileSync(new URL(name, EXAMPLES), "utf8");
const convert = (text: string) => convertedFile(text, "a.yaml", KINDS);
const whole = (text: string): string => convert(text).texts.join("---\n");

test("the manifests of 2019 become those of today's example, but for their version of Kubernetes", () => {
  const made = ["2019/cluster.yaml", "2019/machine.yaml"].flatMap((name) => convert(example(name)).objects);
  const expected = loadAll(example("today.yaml").replaceAll("v1.36.1", "v1.14.2")) as Record<string, unknown>[];
  const comparable = (objects: readonly object[]): unknown =>
    JSON.parse(
      JSON.stringify(objects).replaceAll(
        '"cluster.x-k8s.io/control-plane":"true"',
        '"cluster.x-k8s.io/control-plane":""',
      ),
    );
  const placed = made.map((object) => ({ ...object, metadata: { namespace: "default", ...object.metadata } }));
  assert.deepEqual(comparable(placed), expected);
});

test("comments stay with their fields, also with those that have another name or place now", () => {
  const text = `# The first machine.
apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1
kind: PlunderMachine # a host
metadata:
  # its name
  name: a # not "#b"
spec:
  # the address
  ipaddress: "192.168.1.5" # by DHCP
  macaddress: 00:11:22:33:44:55 # the card
# That is all.
`;
  assert.equal(
    whole(text),
    `# The first machine.
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: PlunderMachine # a host
metadata:
  # its name
  name: a # not "#b"
spec:
  hostSelector:
    # the card
    macAddress: '00:11:22:33:44:55'
  # the address
  # by DHCP
  ipAddress: 192.168.1.5
# That is all.
`,
  );
});

test("a # inside of texts is no comment", () => {
  const text = `apiVersion: cluster.x-k8s.io/v1alpha2
kind: Machine
metadata:
  name: a
  labels: { cluster.x-k8s.io/cluster-name: c }
  annotations: { one: "a # b" }
spec:
  bootstrap:
    data: |
      #cloud-config
      # of mine
      {}
  infrastructureRef: { apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1, kind: PlunderMachine, name: a }
`;
  const { objects, texts } = convert(text);
  assert.doesNotMatch(texts[1]!, /cloud-config|of mine/);
  const [secret, machine] = objects as unknown as [
    { stringData: object; metadata: object },
    { spec: { bootstrap: object } },
  ];
  assert.deepEqual(
    [secret.metadata, secret.stringData],
    [{ name: "a-inline-bootstrap-data" }, { value: "#cloud-config\n# of mine\n{}\n" }],
  );
  assert.deepEqual(machine.spec.bootstrap, { dataSecretName: "a-inline-bootstrap-data" });
  assert.ok(
    texts.every((one) => !/v1alpha2-fields/.test(one)),
    "what conversion keeps is for API servers",
  );
});

test("objects of today, and of foreign kinds, stay word for word", () => {
  const texts = [
    "apiVersion: v1\nkind: ConfigMap # mine\nmetadata: {name:   a}\n",
    `${example("provider.yaml").trimEnd()}\n`,
  ];
  const { changed, texts: made } = convert(texts.join("---\n"));
  assert.deepEqual([changed, made], [0, texts]);
  const today = example("today.yaml");
  assert.equal(whole(today), today);
});

test("a list becomes its items; what today's version has no place for is named by line", () => {
  const item = {
    apiVersion: "infrastructure.cluster.x-k8s.io/v1alpha1",
    kind: "PlunderMachine",
    metadata: { name: "a" },
  };
  const list = { apiVersion: "v1", kind: "List", items: [{ ...item, spec: { dockerVersion: "18.06" }, status: null }] };
  const { objects, notes, changed } = convert(JSON.stringify(list, undefined, 1));
  assert.equal(changed, 1);
  assert.deepEqual(objects, [
    { ...item, apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1", spec: { dockerVersion: "18.06" } },
  ]);
  assert.deepEqual(notes, [
    "a.yaml:12: PlunderMachine/a: spec.dockerVersion: kept, without effect: machines run containerd",
  ]);
  const machine = `apiVersion: cluster.x-k8s.io/v1alpha2
kind: Machine
metadata: { name: a, labels: { cluster.x-k8s.io/cluster-name: c } }
spec:
  metadata: { name: b }
  bootstrap: { data: "" }
  infrastructureRef: { kind: PlunderMachine, apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1, name: a, namespace: other }
`;
  assert.deepEqual(convert(machine).notes, [
    "a.yaml:5: Machine/a: spec.metadata: left out: Machine v1beta2 has no place for it",
    "a.yaml:7: Machine/a: spec.infrastructureRef.namespace: left out: Machine v1beta2 has no place for it",
  ]);
});

test("what is wrong is refused by file, line and field, without its value", () => {
  const old = (rest: string, kind = "PlunderMachine", version = "infrastructure.cluster.x-k8s.io/v1alpha1") =>
    `---\napiVersion: ${version}\nkind: ${kind}\n${rest}`;
  for (const [text, message] of [
    [
      old("metadata: {name: a}\nspec:\n  ipadress: SECRET\n  macaddress: 5\n"),
      /a\.yaml:6: PlunderMachine\/a: spec\.ipadress: there is no such field; line 7, PlunderMachine\/a: spec\.macaddress: /,
    ],
    [
      old("metadata: {name: a}\nspec: {}\n", "Machine", "cluster.x-k8s.io/v1alpha3"),
      /a\.yaml:2: Machine\/a: apiVersion: Machine has no version v1alpha3 here, but v1beta2, v1beta1, v1alpha2/,
    ],
    [
      old(
        "metadata: {name: a}\nspec:\n  bootstrap: {data: SECRET}\n  infrastructureRef: {name: a}\n",
        "Machine",
        "cluster.x-k8s.io/v1alpha2",
      ),
      /a\.yaml:4: Machine\/a: metadata: the label cluster\.x-k8s\.io\/cluster-name is missing: add it/,
    ],
    [
      old("metadata:\n  name: a\n  labels:\n    one: true\n"),
      /a\.yaml:7: PlunderMachine\/a: metadata\.labels\.one: must be a text/,
    ],
    [old("spec: {}\n"), /a\.yaml:2: apiVersion, kind or metadata\.name is missing/],
    [old("spec: {\n\n  SECRET: }{\n"), /a\.yaml:6: neither YAML nor JSON/],
  ] as const)
    assert.throws(
      () => convert(text),
      (error: Error) => {
        assert.match(error.message, message);
        assert.doesNotMatch(error.message, /SECRET/);
        return true;
      },
    );
});
