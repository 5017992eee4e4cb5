import assert from "node:assert/strict";
import { test } from "node:test";
import { assetsFolder, KUBERNETES_VERSION } from "./assets.ts";

test("programs are looked for where the environment says, else in the user's cache, else in one at the root", () => {
  const cached = (cache: string): string => `${cache}/slipway/kubernetes/${KUBERNETES_VERSION}`;
  const [HOME, XDG_CACHE_HOME, SLIPWAY_ASSETS, KUBEBUILDER_ASSETS] = ["/home/ada", "/cache", "/own", "/builder"];
  assert.equal(assetsFolder({}), cached("/.cache"));
  assert.equal(assetsFolder({ HOME }), cached("/home/ada/.cache"));
  assert.equal(assetsFolder({ HOME, XDG_CACHE_HOME }), cached("/cache"));
  assert.equal(assetsFolder({ HOME, XDG_CACHE_HOME, SLIPWAY_ASSETS }), "/own");
  assert.equal(assetsFolder({ HOME, XDG_CACHE_HOME, SLIPWAY_ASSETS, KUBEBUILDER_ASSETS }), "/builder");
});
