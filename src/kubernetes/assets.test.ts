import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Fault, isFault } from "@slipway/base";
import { assetsFolder, findAssets, findRelease, KUBERNETES_VERSION } from "./assets.ts";

test("programs are looked for where the environment says, else in the user's cache, else in one at the root", () => {
  const cached = (cache: string): string => `${cache}/slipway/kubernetes/${KUBERNETES_VERSION}`;
  const [HOME, XDG_CACHE_HOME, SLIPWAY_ASSETS, KUBEBUILDER_ASSETS] = ["/home/ada", "/cache", "/own", "/builder"];
  assert.equal(assetsFolder({}), cached("/.cache"));
  assert.equal(assetsFolder({ HOME }), cached("/home/ada/.cache"));
  assert.equal(assetsFolder({ HOME, XDG_CACHE_HOME }), cached("/cache"));
  assert.equal(assetsFolder({ HOME, XDG_CACHE_HOME, SLIPWAY_ASSETS }), "/own");
  assert.equal(assetsFolder({ HOME, XDG_CACHE_HOME, SLIPWAY_ASSETS, KUBEBUILDER_ASSETS }), "/builder");
  const other = { HOME, SLIPWAY_ASSETS, KUBEBUILDER_ASSETS };
  assert.equal(assetsFolder(other, "1.35.7"), "/home/ada/.cache/slipway/kubernetes/1.35.7", "only of one version");
});

/** A cache with releases, each with these programs. */
function cache(t: TestContext, releases: Readonly<Record<string, readonly string[]>>) {
  const folder = mkdtempSync(join(tmpdir(), "slipway-cache-"));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [release, programs] of Object.entries(releases)) {
    const of = join(folder, "slipway/kubernetes", release);
    mkdirSync(of, { recursive: true });
    for (const name of programs) {
      writeFileSync(join(of, name), "");
      chmodSync(join(of, name), 0o755);
    }
  }
  const env: Record<string, string> = { XDG_CACHE_HOME: folder };
  return { env, folder: (release: string) => join(folder, "slipway/kubernetes", release) };
}

test("the latest whole release of a minor is found, by number and not by letter", async (t) => {
  const all = ["a", "b"];
  const { env } = cache(t, {
    "1.35.9": all,
    "1.35.10": all,
    "1.35.11": ["a"],
    "1.3.1": all,
    "1.35.12-rc": all,
    "1.34.20": all,
  });
  assert.equal(await findRelease(env, all, "1.35"), "1.35.10");
  assert.equal(await findRelease(env, ["a"], "1.35"), "1.35.11");
  assert.equal(await findRelease(env, all, "1.3"), "1.3.1");
  assert.equal(await findRelease(env, all, "1.33"), undefined);
  assert.equal(await findRelease({ XDG_CACHE_HOME: "/nowhere" }, all, "1.35"), undefined);
});

test("the version that is built with is found where the environment says, too", async (t) => {
  const { folder } = cache(t, { own: ["a"] });
  const minor = KUBERNETES_VERSION.split(".").slice(0, 2).join(".");
  const elsewhere = { XDG_CACHE_HOME: "/nowhere", SLIPWAY_ASSETS: folder("own") };
  assert.equal(await findRelease(elsewhere, ["a"], minor), KUBERNETES_VERSION);
});

test("a program that is missing, or may not be run, is named with what to do", async (t) => {
  const { env, folder } = cache(t, {
    [KUBERNETES_VERSION]: ["etcd", "kube-apiserver", "kube-controller-manager"],
    "1.35.1": [],
  });
  assert.equal(await findAssets(env), folder(KUBERNETES_VERSION));
  chmodSync(join(folder(KUBERNETES_VERSION), "etcd"), 0o644);
  const refused = (work: Promise<unknown>, on: string, remedy: RegExp) =>
    assert.rejects(work, (error: Fault) => isFault(error, "NotFound") && error.on === on && remedy.test(error.remedy!));
  // Whoever may do anything may run anything that has an x; this has none.
  await refused(findAssets(env), "etcd", /make kube-assets` \(needs Go\)/);
  await refused(findAssets(env, ["kubelet"], "1.35.1"), "kubelet", /put the programs of v1\.35\.1 into/);
});
