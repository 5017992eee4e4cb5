import assert from "node:assert/strict";
import { test } from "node:test";
import type { AdmissionReview } from "../core/admission.ts";
import type { Authorize } from "../core/authorize.ts";
import type { Body } from "../model/served.ts";
import { certificateRequests } from "./certificate-requests.ts";

/** A request for `O=system:masters, CN=x`, made with openssl; nobody has its key. */
const MASTERS =
  "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIZ01JR0hBZ0VBTUNVeEZ6QVZCZ05WQkFvTURuTjVjM1JsYlRwdFlYTjBaWEp6TVFvd0NBWURWUVFEREFGNApNRmt3RXdZSEtvWkl6ajBDQVFZSUtvWkl6ajBEQVFjRFFnQUVBQ1BNaFowQlpWeUdWb2xUR1EraGtjSk9LQUFsCkJIMW54U3lJbWpML1FCU2tGWG5RNWNDclArajlZcUFFeEVjL0RWaG1abkRxamZ6dnUvYUlKWE5YcEtBQU1Bb0cKQ0NxR1NNNDlCQU1DQTBnQU1FVUNJUUQ3TldHUHRiVFFyeE11NDdzQ3FFQ2lFVEx5S3dFQiszUVZmMkRPQVB5NApKZ0lnTFR6VzVLK0hncHYreTJaQTRsaU03R3JxeCtDOEF3MEwwald6aDFMd3hLQT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==";
const NOW = Date.UTC(2026, 0, 1);
const clock = { now: () => NOW };
const resource = { group: "certificates.k8s.io", plural: "certificatesigningrequests" };
const request = (spec: object, status: object = {}) => ({ metadata: { name: "r" }, spec, status }) as unknown as Body;
const review = (more: Partial<AdmissionReview>) =>
  ({ resource, subresource: "", name: "r", user: { name: "bob", groups: ["dev"] }, ...more }) as AdmissionReview;
const nothing: Authorize = () => ({ allowed: false });
const approved = { conditions: [{ type: "Approved", status: "True" }] };
const signerName = "kubernetes.io/kubelet-serving";

test("a request names who made it, not who it says made it", async () => {
  const object = request({ signerName, username: "root", groups: ["system:masters"], uid: "0", extra: { a: ["b"] } });
  await certificateRequests(nothing, clock)(review({ operation: "CREATE", object, old: undefined }));
  assert.deepEqual(object.spec, { signerName, username: "bob", groups: ["dev"] });
});

test("nobody asks this API's own signer for the administrators' group", async () => {
  const ask = async (signer: string): Promise<void> => {
    const object = request({ signerName: signer, request: MASTERS });
    await certificateRequests(nothing, clock)(review({ operation: "CREATE", object, old: undefined }));
  };
  await assert.rejects(ask("kubernetes.io/kube-apiserver-client"), /signer with system:masters group is not allowed/);
  await ask("example.com/other");
});

test("approving needs the right to approve for that signer, or for all of its domain", async () => {
  const old = request({ signerName });
  const approve = (authorize: Authorize, object: Body) =>
    certificateRequests(authorize, clock)(review({ operation: "UPDATE", subresource: "approval", object, old }));
  await assert.rejects(
    approve(nothing, request({ signerName }, approved)) as Promise<void>,
    /user not permitted to approve requests with signerName "kubernetes\.io\/kubelet-serving"/,
  );
  const object = request({ signerName }, structuredClone(approved));
  await approve(
    ({ verb, plural, name }) => ({ allowed: `${verb} ${plural} ${name}` === "approve signers kubernetes.io/*" }),
    object,
  );
  const [condition] = (object.status as { conditions: object[] }).conditions;
  const at = "2026-01-01T00:00:00Z";
  assert.deepEqual(condition, { type: "Approved", status: "True", lastUpdateTime: at, lastTransitionTime: at });
});

test("signing needs the right to sign; a status that signs nothing does not", async () => {
  const old = request({ signerName }, { conditions: [] });
  const write = async (status: object): Promise<void> =>
    await certificateRequests(
      nothing,
      clock,
    )(review({ operation: "UPDATE", subresource: "status", object: request({ signerName }, status), old }));
  await write({ conditions: [] });
  await assert.rejects(write({ conditions: [], certificate: "x" }), /not permitted to sign/);
});
