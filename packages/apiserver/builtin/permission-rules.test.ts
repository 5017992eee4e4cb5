/** Requests for certificates, roles and bindings: what is refused, in the words of Kubernetes' validation. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertRefusals, builtin, changed, filledIn, type Refusal, refusals } from "./testing.ts";

test("a request for a certificate holds one, names its signer and uses, and keeps what was decided", () => {
  const pem = (type: string) => Buffer.from(`-----BEGIN ${type}-----\nx\n-----END ${type}-----\n`).toString("base64");
  const base = {
    spec: { request: pem("CERTIFICATE REQUEST"), signerName: "a.example/b", usages: ["client auth", "any"] },
  };
  const signer = (name: string, why: string): Refusal => [
    { "spec/signerName": name },
    [`spec.signerName: Invalid value: ${JSON.stringify(name)}: ${why}`],
  ];
  const form = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
  assertRefusals("CertificateSigningRequest", base, [
    [
      { "spec/request": pem("CERTIFICATE") },
      [`spec.request: Invalid value: "${pem("CERTIFICATE")}": PEM block type must be CERTIFICATE REQUEST`],
    ],
    [{ "spec/usages": [] }, ["spec.usages: Required value"]],
    [{ "spec/usages": ["any", "any"] }, ['spec.usages[1]: Duplicate value: "any"']],
    [{ "spec/usages": ["fun"] }, ['spec.usages[0]: Unsupported value: "fun": supported values: "any", "cert sign", …']],
    [{ "spec/signerName": "" }, ["spec.signerName: Required value"]],
    signer("kubernetes.io/legacy-unknown", "the legacy signerName is not allowed via this API version"),
    ...["example/b", "a.example", "a.example/", "a.example/b/c"].map((name) => signer(name, form)),
    [{ "spec/expirationSeconds": 600 }, []],
    [
      { "spec/expirationSeconds": 599 },
      ["spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)"],
    ],
  ]);
  const types = ["Approved", "Denied", "Failed"];
  const conditions = [...types, "Other"].map((type) => ({ type, status: "True" }));
  const decided = { ...base, status: { conditions } };
  assertRefusals(
    "CertificateSigningRequest",
    decided,
    conditions.map(
      ({ type }): Refusal => [
        { status: { conditions: conditions.filter((one) => one.type !== type) } },
        types.includes(type)
          ? [`status.conditions: Forbidden: updates may not remove a condition of type "${type}"`]
          : [],
      ],
    ),
    decided,
  );
  const next = filledIn(builtin("CertificateSigningRequest"), changed(base, { "spec/usages": ["any"] }));
  builtin("CertificateSigningRequest").prepareUpdate?.(next, decided as never, 0);
  assert.deepEqual(next.spec, base.spec, "what was asked for stays");
});

test("every use that a certificate can have may be asked for", () => {
  const usages = [
    ...["any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment"],
    ...["decipher only", "digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel"],
    ...["ipsec user", "key agreement", "key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime"],
    ...["server auth", "signing", "timestamping"],
  ];
  const request = Buffer.from("-----BEGIN CERTIFICATE REQUEST-----").toString("base64");
  const spec = { request, signerName: "a.example/b", usages };
  assert.deepEqual(refusals("CertificateSigningRequest", { spec }), []);
});

test("rules of roles are of resources or of paths", () => {
  const rule = { verbs: ["get"], apiGroups: [""], resources: ["pods"] };
  const path = { verbs: ["get"], nonResourceURLs: ["/x"] };
  const rules = (of: object) => ({ rules: [of] });
  const both = "rules cannot apply to both regular resources and non-resource URLs";
  assertRefusals("Role", { rules: [rule] }, [
    [
      rules({ ...rule, apiGroups: [] }),
      ["rules[0].apiGroups: Required value: resource rules must supply at least one api group"],
    ],
    [
      rules({ ...rule, resources: [] }),
      ["rules[0].resources: Required value: resource rules must supply at least one resource"],
    ],
    [
      rules(path),
      ['rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs'],
    ],
  ]);
  const selectors = "aggregationRule.clusterRoleSelectors";
  assertRefusals("ClusterRole", { rules: [rule] }, [
    [rules(path), []],
    [rules({ ...rule, verbs: [] }), ["rules[0].verbs: Required value: verbs must contain at least one value"]],
    ...[{ apiGroups: [""] }, { resources: ["a"] }, { resourceNames: ["a"] }].map(
      (more): Refusal => [rules({ ...path, ...more }), [`rules[0].nonResourceURLs: Invalid value: ["/x"]: ${both}`]],
    ),
    [
      { aggregationRule: { clusterRoleSelectors: [] } },
      [`${selectors}: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil`],
    ],
    [
      { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: "-" } }] } },
      [`${selectors}[0].matchLabels: Invalid value: "-": a valid label must …`],
    ],
  ]);
});

test("a binding names a role and subjects that there can be, and keeps its role", () => {
  const group = "rbac.authorization.k8s.io";
  const supported = (field: string, value: string, ...of: string[]) =>
    `${field}: Unsupported value: ${JSON.stringify(value)}: supported values: ${of.map((one) => JSON.stringify(one)).join(", ")}`;
  const base = { roleRef: { kind: "ClusterRole", name: "r" }, subjects: [{ kind: "User", name: "u" }] };
  const subject = (of: object) => ({ subjects: [of] });
  const shared: Refusal[] = [
    [{ "roleRef/apiGroup": "x" }, [supported("roleRef.apiGroup", "x", group)]],
    [{ "roleRef/name": "" }, ["roleRef.name: Required value"]],
    [{ "roleRef/name": "a/b" }, ["roleRef.name: Invalid value: \"a/b\": may not contain '/'"]],
    [subject({ kind: "User", name: "" }), ["subjects[0].name: Required value"]],
    [subject({ kind: "Group", name: "g", apiGroup: "x" }), [supported("subjects[0].apiGroup", "x", group)]],
    [
      subject({ kind: "Robot", name: "r" }),
      [supported("subjects[0].kind", "Robot", "ServiceAccount", "User", "Group")],
    ],
    [
      subject({ kind: "ServiceAccount", name: "A", namespace: "n" }),
      ['subjects[0].name: Invalid value: "A": a lowercase RFC 1123 subdomain …'],
    ],
    [
      subject({ kind: "ServiceAccount", name: "a", namespace: "n", apiGroup: "x" }),
      [supported("subjects[0].apiGroup", "x", "")],
    ],
  ];
  const account = { kind: "ServiceAccount", name: "a" };
  assertRefusals("RoleBinding", base, [
    ...shared,
    [{ "roleRef/kind": "Role" }, []],
    [{ "roleRef/kind": "Other" }, [supported("roleRef.kind", "Other", "Role", "ClusterRole")]],
    [subject(account), []],
  ]);
  assertRefusals("ClusterRoleBinding", base, [
    ...shared,
    [{ "roleRef/kind": "Role" }, [supported("roleRef.kind", "Role", "ClusterRole")]],
    [subject(account), ["subjects[0].namespace: Required value"]],
  ]);
  assertRefusals(
    "ClusterRoleBinding",
    base,
    [
      [{ subjects: [] }, []],
      [
        { "roleRef/name": "s" },
        [`roleRef: Invalid value: {"APIGroup":"${group}","Kind":"ClusterRole","Name":"s"}: cannot change roleRef`],
      ],
    ],
    base,
  );
});

test("an empty list of rules is kept as none", () => {
  const rule = { verbs: ["get"], apiGroups: [""], resources: ["pods"] };
  const role = builtin("Role");
  const empty = filledIn(role, { rules: [] });
  assert.equal(Object.hasOwn(role.toStorage!(empty), "rules"), false);
  assert.deepEqual(role.toStorage!(filledIn(role, { rules: [rule] })).rules, [rule]);
});
