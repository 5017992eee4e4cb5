/** What a webhook's answer is taken for, and where a webhook is called. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Body } from "../model/served.ts";
import { Store } from "../storage/store.ts";
import { CallFailed, readAnswer } from "./answer.ts";
import { targetOf } from "./target.ts";

const SENT = { kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1" };
const read = (status: number, body: string, type: string | undefined = "application/json") =>
  readAnswer({ status, body, headers: type === undefined ? {} : { "content-type": type } } as never, SENT);
const refused = (status: number, body: string, type?: string): string => {
  try {
    read(status, body, type);
  } catch (error) {
    assert.ok(error instanceof CallFailed);
    return error.message;
  }
  return assert.fail("it was read");
};

test("an answer is a review in any of its versions, or says nothing of its kind; JSON and YAML are read", () => {
  for (const status of [200, 201, 206]) assert.deepEqual(read(status, JSON.stringify(SENT)), SENT);
  const older = { ...SENT, apiVersion: "admission.k8s.io/v1beta1" };
  assert.deepEqual(read(200, JSON.stringify(older)), older);
  assert.deepEqual(read(200, "response: { allowed: true }\n"), { response: { allowed: true } });
  assert.deepEqual(read(200, '{"kind":"Other"}'), { kind: "Other" }, "a half of the two is not looked at");
  assert.deepEqual(read(200, '{"apiVersion":"other/v1"}'), { apiVersion: "other/v1" });
});

test("what is no answer is reported in the words of kube-apiserver's client", () => {
  const scheme = 'in scheme "pkg/runtime/scheme.go:111"';
  const kind = (of: string, version: string) => `no kind "${of}" is registered for version "${version}" ${scheme}`;
  const shape =
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
  const unmarshal = (is: string) =>
    `couldn't get version/kind; json parse error: json: cannot unmarshal ${is} into Go value of type ${shape}`;
  for (const [status, body, said] of [
    [
      200,
      JSON.stringify({ ...SENT, apiVersion: "admission.k8s.io/v2" }),
      kind("AdmissionReview", "admission.k8s.io/v2"),
    ],
    [200, JSON.stringify({ ...SENT, kind: "Other" }), kind("Other", SENT.apiVersion)],
    [200, "[]", unmarshal("array")],
    [200, "null", unmarshal("null")],
    [200, "7", unmarshal("number")],
    [200, '"x"', unmarshal("string")],
    [200, "", "0-length response with status code: 200 and content type: application/json"],
    [207, "{}", "the server responded with the status code 207 but did not return more information"],
    [199, "{}", "the server responded with the status code 199 but did not return more information"],
    [400, "", "the server rejected our request for an unknown reason"],
    [401, "", "the server has asked for the client to provide credentials"],
    [404, "", "the server could not find the requested resource"],
    [405, "", "the server does not allow this method on the requested resource"],
    [409, "", "the server reported a conflict"],
    [422, "", "the server rejected our request due to an error in our request"],
    [429, "", "the server has received too many requests and has asked us to try again later"],
    [503, "", "the server is currently unable to handle the request"],
    [
      504,
      "",
      "the server was unable to return a response in the time allotted, but may still be processing the request",
    ],
    [500, "x", 'an error on the server ("unknown") has prevented the request from succeeding'],
    [418, "x", "the server responded with the status code 418 but did not return more information"],
  ] as const)
    assert.equal(refused(status, body), said, `${status} ${body}`);
  assert.match(refused(200, "a: [1,"), /^couldn't get version\/kind; json parse error: \S.*$/);
  assert.doesNotMatch(refused(200, "a: [1,"), /\n/);
});

test("of an answer as text the first 2048 letters are repeated, of a Status its message", () => {
  assert.equal(refused(403, " closed \n", "text/plain"), "closed");
  assert.equal(refused(415, "x", "text/html"), "x");
  assert.equal(refused(403, "x"), "unknown");
  assert.equal(
    refused(500, "a".repeat(3000), "text/plain").length,
    2048 + 'an error on the server ("") has prevented the request from succeeding'.length,
  );
  assert.match(refused(500, "x", undefined), /\("unknown"\)|\("x"\)/);
  const status = (of: object) => JSON.stringify({ kind: "Status", apiVersion: "v1", ...of });
  assert.equal(refused(500, status({ message: "said so" })), "said so");
  assert.equal(refused(500, status({})), "");
  assert.match(refused(500, status({ kind: "Other", message: "x" })), /^an error on the server/);
  assert.match(refused(500, status({ apiVersion: "v2", message: "x" })), /^an error on the server/);
});

/** A store with these objects. */
function storeOf(objects: Readonly<Record<string, readonly object[]>>): Store {
  const store = new Store();
  for (const [collection, of] of Object.entries(objects))
    for (const object of of as Body[])
      store.put(collection, `${object.metadata.namespace}/${object.metadata.name}`, object, undefined);
  return store;
}

const named = (name: string, more: object = {}) => ({ metadata: { namespace: "n", name }, ...more });
const SERVICE = named("s", {
  spec: {
    ports: [
      { port: 443, name: "https" },
      { port: 8443, name: "other" },
    ],
  },
});
const subsets = (...of: object[]) => named("s", { subsets: of });
const slice = (
  name: string,
  endpoints: object[],
  ports: object[] = [{ name: "https", port: 9443 }],
  service = "s",
) => ({
  ...{ metadata: { namespace: "n", name, labels: { "kubernetes.io/service-name": service } }, endpoints, ports },
});

test("a URL is called as it is, with a path of its own; a CA is trusted where one is given", () => {
  const target = (url: string, caBundle?: string) =>
    targetOf(new Store(), { url, ...(caBundle !== undefined && { caBundle }) });
  const plain = { address: undefined, ca: undefined };
  assert.deepEqual(target("https://a.example"), {
    url: "https://a.example/",
    calledUrl: "https://a.example/",
    ...plain,
  });
  assert.deepEqual(target("https://a.example/x"), {
    url: "https://a.example/x",
    calledUrl: "https://a.example/x",
    ...plain,
  });
  const encoded = (text: string) => Buffer.from(text).toString("base64");
  assert.equal((target("https://a.example", encoded("CERT\n")) as { ca: string }).ca, "CERT");
  assert.equal((target("https://a.example", encoded(" ")) as { ca?: string }).ca, undefined);
});

test("a Service is called at a ready endpoint of its port, by its own name, or where its external name points", () => {
  const config = (more: object = {}) => ({ service: { namespace: "n", name: "s", ...more } });
  const ready = { addresses: ["10.0.0.1"] };
  const url = "https://s.n.svc:443/";
  const there = storeOf({ "/services": [SERVICE], "discovery.k8s.io/endpointslices": [slice("a", [ready])] });
  assert.deepEqual(targetOf(there, config()), {
    ...{ url, calledUrl: "https://s.n.svc:9443/", address: "10.0.0.1", ca: undefined },
  });
  assert.equal((targetOf(there, config({ path: "x" })) as { url: string }).url, "https://s.n.svc:443/x");
  assert.equal((targetOf(there, config({ path: "/x" })) as { url: string }).url, "https://s.n.svc:443/x");
  const unreachable = (store: Store, more?: object) =>
    (targetOf(store, config(more)) as { unreachable?: string }).unreachable;
  assert.equal(unreachable(new Store()), 'service "s" not found');
  assert.equal(unreachable(there, { port: 1 }), 'no service port 1 found for service "s"');
  assert.equal(unreachable(there, { port: 8443 }), 'no endpoints available for service "s"');
  const external = named("s", { spec: { type: "ExternalName", externalName: "a.example" } });
  assert.deepEqual(targetOf(storeOf({ "/services": [external] }), config({ port: 8443 })), {
    ...{ url: "https://s.n.svc:8443/", calledUrl: "https://a.example:8443/", address: undefined, ca: undefined },
  });
});

test("endpoints that are not ready, of other Services and of other ports are passed over; older Endpoints do, too", () => {
  const address = (slices: object[], endpoints: object[] = []) => {
    const store = storeOf({
      ...{ "/services": [SERVICE], "discovery.k8s.io/endpointslices": slices, "/endpoints": endpoints },
    });
    const found = targetOf(store, { service: { namespace: "n", name: "s" } }) as {
      address?: string;
      calledUrl?: string;
    };
    return found.address && [found.address, found.calledUrl];
  };
  const at = (ip: string, port = 9443) => [ip, `https://s.n.svc:${port}/`];
  const [down, up] = [
    { addresses: ["10.0.0.1"], conditions: { ready: false } },
    { addresses: ["10.0.0.2"], conditions: { ready: true } },
  ];
  assert.deepEqual(address([slice("a", [down, up])]), at("10.0.0.2"));
  assert.deepEqual(
    address([slice("a", [up], undefined, "t"), slice("b", [{ addresses: ["10.0.0.3"] }])]),
    at("10.0.0.3"),
  );
  assert.deepEqual(address([slice("a", [down]), slice("b", [up])]), at("10.0.0.2"));
  assert.equal(address([slice("a", [up], [{ name: "x", port: 1 }])]), undefined);
  assert.equal(address([slice("a", [{ addresses: [] }])]), undefined);
  const ports = [
    { name: "x", port: 1 },
    { name: "https", port: 7443 },
  ];
  const subset = { addresses: [{ ip: "10.0.0.7" }], ports };
  assert.deepEqual(address([], [subsets({ addresses: [], ports }, subset)]), at("10.0.0.7", 7443));
  assert.equal(address([], [subsets({ notReadyAddresses: [{ ip: "10.0.0.7" }], ports })]), undefined);
});
