import assert from "node:assert/strict";
import { test } from "node:test";
import { parseResourcePath } from "./path.ts";

const read = (path: string): string => {
  const p = parseResourcePath(path);
  return p === undefined
    ? "none"
    : [p.group, p.version, p.namespace, p.plural, p.name, p.subresource].join("|") +
        (p.beyond ? "|beyond" : "") +
        (p.watch ? "|watch" : "");
};

for (const [path, expected] of [
  ["/api/v1/pods", "|v1||pods||"],
  ["/api/v1/namespaces", "|v1||namespaces||"],
  ["/api/v1/namespaces/a", "|v1||namespaces|a|"],
  ["/api/v1/namespaces/a/status", "|v1||namespaces|a|status"],
  ["/api/v1/namespaces/a/finalize", "|v1||namespaces|a|finalize"],
  ["/api/v1/namespaces/a/pods", "|v1|a|pods||"],
  ["/api/v1/namespaces/a/pods/b/eviction", "|v1|a|pods|b|eviction"],
  ["/api/v1/watch/namespaces/a/pods", "|v1|a|pods|||watch"],
  ["/apis/apps/v1/namespaces/a/deployments/d/scale", "apps|v1|a|deployments|d|scale"],
  [
    "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode",
    "rbac.authorization.k8s.io|v1||clusterroles|system:node|",
  ],
  ["/apis/apps/v1", "none"],
  ["/api/v1", "none"],
  ["/version", "none"],
  ["/apis/apps/v1/a/b/c/d", "apps|v1||a|b|c|beyond"],
  ["/apis/apps//v1/a", "none"],
] as const)
  test(`${path} names ${expected}`, () => assert.equal(read(path), expected));

test("a broken percent escape is refused", () =>
  assert.throws(() => parseResourcePath("/api/v1/pods/%zz"), /percent escape/));
