import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import fc from "fast-check";
import { apiTarget } from "./api-path.ts";

test("what the page asks for goes on as it is, with its query", () => {
  const pods = "/api/v1/namespaces/default/pods";
  assert.deepEqual(apiTarget(pods), { path: pods, query: {} });
  const query = { labelSelector: "a=b,c in (d)", limit: "500" };
  assert.deepEqual(apiTarget(`${pods}?${new URLSearchParams(query)}`), { path: pods, query });
  const roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:admin";
  assert.equal(decodeURIComponent(apiTarget(roles).path), roles);
  for (const path of ["/version", "/api", "/apis", "/openapi/v3/apis/apps/v1", "/api/v1/namespaces/watch/pods"])
    assert.equal(apiTarget(path).path, path);
});

/** Pieces of which attackers make paths. */
const PIECE = fc.oneof(
  fc.constantFrom(
    ...[
      "/",
      "//",
      "..",
      ".",
      "%2e",
      "%2E%2e",
      "%2f",
      "%5c",
      "\\",
      "%00",
      "%0d%0a",
      "?",
      "#",
      "@",
      ":",
      "%",
      "%25",
      ";",
    ],
  ),
  fc.constantFrom(
    ...[
      "api",
      "apis",
      "v1",
      "namespaces",
      "default",
      "secrets",
      "%73ecrets",
      "pods",
      "proxy",
      "watch",
      "evil.example",
      "http:",
    ],
  ),
  fc.string({ unit: "binary", maxLength: 3 }),
);

const SECRETS = /^\/api\/[^/]+(\/namespaces\/[^/]+)?\/secrets(\/|$)/;
const PROXY = /^\/api\/[^/]+(\/namespaces\/[^/]+)?\/([^/]+\/[^/]+\/)?proxy(\/|$)/;

test("whatever is asked, what goes on is one plain path below the API's roots, or nothing", () => {
  fc.assert(
    fc.property(fc.array(PIECE, { maxLength: 12 }), (pieces) => {
      let target: ReturnType<typeof apiTarget>;
      try {
        target = apiTarget(`/${pieces.join("")}`);
      } catch (error) {
        assert.ok(isFault(error, "BadRequest", "Forbidden"), String(error));
        return;
      }
      const { path, query } = target;
      assert.match(path, /^\/(api|apis|version|openapi)(\/([A-Za-z0-9._~-]|%3A|%40)+)*$/);
      assert.equal(new URL(`http://api.invalid${path}`).pathname, path, "no reader takes dots out of it");
      assert.doesNotMatch(path, SECRETS);
      assert.doesNotMatch(path, PROXY);
      assert.ok(!("watch" in query));
    }),
    {
      numRuns: 5_000,
      // Without a version it is no resource, and the API has nothing there.
      examples: [
        [["api/", "secrets"]],
        [["api/v1/", "secrets"]],
        [["api/v1/%2e%2e/", "secrets"]],
        [["api/v1/nodes/a/", "proxy"]],
      ],
    },
  );
});
