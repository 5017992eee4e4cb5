import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { Client } from "@slipway/kube";
import { JoinInputs, serverUrl } from "./join-facts.ts";

/** A cluster in which these objects are, by name. */
const cluster = (objects: Record<string, object>): Client =>
  ({ find: async (_: unknown, { name }: { name: string }) => objects[name] }) as unknown as Client;
const annotated = (annotations: object) => ({ metadata: { annotations } });
const balanced = (ip: string) => ({ metadata: {}, status: { loadBalancer: { ingress: [{ ip }] } } });

test("machines join at the address that the cluster knows first: its ConfigMap, its Services, what was asked of kube-vip", async () => {
  const nowhere = "0.0.0.0";
  const addresses: [objects: Record<string, object>, url: string][] = [
    [{ vip: { data: { ip: "10.0.0.1", loadBalancerIP: "10.0.0.2" } } }, "https://10.0.0.1"],
    [{ vip: { data: { ip: nowhere, loadBalancerIP: "10.0.0.2" } } }, "https://10.0.0.2"],
    [{ vip: { data: { ip: "10.0.0.1" } }, "ingress-expose": balanced("10.0.0.3") }, "https://10.0.0.1"],
    [{ vip: { data: { ip: "" } }, "ingress-expose": balanced("10.0.0.3") }, "https://10.0.0.3"],
    [{ "ingress-expose": annotated({ "kube-vip.io/loadbalancerIPs": "10.0.0.4" }) }, "https://10.0.0.4"],
    [{ "ingress-expose": annotated({ "kube-vip.io/requestedIP": "10.0.0.5" }) }, "https://10.0.0.5"],
    [{ "ingress-expose": balanced(nowhere), "rke2-traefik": balanced("10.0.0.6") }, "https://10.0.0.6"],
    [{ "rke2-traefik": balanced("2001:db8::6") }, "https://[2001:db8::6]"],
  ];
  for (const [objects, url] of addresses) assert.equal(await serverUrl(cluster(objects), undefined), url);
});

test("an address of the specification goes before the cluster's; without any, the input is missing", async () => {
  assert.equal(await serverUrl(cluster({}), "https://vip.example"), "https://vip.example");
  for (const unset of [undefined, ""])
    await assert.rejects(serverUrl(cluster({ vip: { data: { ip: "0.0.0.0" } } }), unset), (error) =>
      isFault(error, "MissingInput"),
    );
});

test("the token is the environment's, else the operator's Secret's, else the one in the node's own file", async () => {
  const encoded = { operator: { data: { JOIN_TOKEN: Buffer.from(" of the Secret\n").toString("base64") } } };
  const token = (of: { environment?: string; file?: string; objects?: Record<string, object> }) => {
    const { environment, file, objects = {} } = of;
    const secret = { namespace: "harvester-system", name: "operator" };
    const source = { environment, secret, readNodeFile: async () => file };
    return new JoinInputs(source, new VirtualClock()).token(cluster(objects));
  };
  const file = "server: https://10.0.0.1\ntoken: of the node\n";
  assert.equal(await token({ environment: "of the environment", file, objects: encoded }), "of the environment");
  assert.equal(await token({ file, objects: encoded }), "of the Secret");
  assert.equal(await token({ file }), "of the node");
  for (const [without, says] of [
    [{}, /no rancherd configuration on this node/],
    [{ file: "server: https://10.0.0.1\n" }, /no key token in the rancherd configuration/],
    [{ file: "token: ''\n" }, /no key token in/],
  ] as const)
    await assert.rejects(token(without), (error) => {
      assert.ok(isFault(error, "MissingInput") && error.on === "Secret/harvester-system/operator");
      assert.match(error.message, says);
      return true;
    });
});
