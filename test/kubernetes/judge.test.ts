/**
 * A program written with client-go against the embedded API and against kube-apiserver: what its shared informer, its leader election and its
 * server-side apply saw.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { assetsFolder, BINARIES, findAssets } from "../../src/kubernetes/assets.ts";
import { type Server, startEmbedded, startReal } from "./conformance/servers.ts";

const OBJECTS = 50;

interface Seen {
  informer: Record<
    "objects" | "added" | "updated" | "deleted" | "equal" | "lists" | "streamedLists" | "errors",
    number
  > & {
    initialEventsEnd: boolean;
  };
  election: {
    leaders: string[];
    transitions: number;
    overlap: boolean;
    leaseSeconds: number;
    failOverSeconds: number;
    followerKnowsLeader: boolean;
    releasedLeaseIsEmpty: boolean;
  };
  apply: {
    conflict: string;
    causes: string[];
    forced: Record<string, string>;
    givenBack: Record<string, string>;
    managers: string[];
    idempotent: boolean;
  };
}

const assets = assetsFolder(process.env);
const missing = await findAssets(process.env, [...BINARIES, "judge"]).then(
  () => false,
  (fault: Error) => `${fault.message}: make kube-assets`,
);

for (const [name, start] of [
  ["the embedded API", startEmbedded],
  ["kube-apiserver", startReal],
] as const)
  describe(`client-go on ${name}`, { skip: missing }, () => {
    let server: Server | undefined;
    let seen: Seen;

    before(async () => {
      server = await start(assets);
      const args = [`--kubeconfig=${server.kubeconfigFile}`, `--objects=${OBJECTS}`];
      seen = JSON.parse((await promisify(execFile)(join(assets, "judge"), args)).stdout);
    });
    after(() => server?.close());

    test("a shared informer sees each creation, change and deletion once, and its cache equals the server", () => {
      const { objects, added, updated, deleted, equal, errors } = seen.informer;
      assert.deepEqual(
        { objects, added, updated, deleted, equal, errors },
        {
          objects: OBJECTS,
          added: OBJECTS,
          updated: OBJECTS,
          deleted: OBJECTS,
          equal: OBJECTS,
          errors: 0,
        },
      );
    });

    test("its first list is streamed, ends with the bookmark that says so, and needs no other", () => {
      const { lists, streamedLists, initialEventsEnd } = seen.informer;
      assert.deepEqual(
        { lists, streamedLists, initialEventsEnd },
        { lists: 0, streamedLists: 1, initialEventsEnd: true },
      );
    });

    test("a killed leader is followed within its lease and two retries, and never leads beside its successor", () => {
      const { leaders, overlap, failOverSeconds, leaseSeconds, followerKnowsLeader } = seen.election;
      assert.deepEqual(
        { leaders, overlap, followerKnowsLeader },
        {
          leaders: ["first", "second"],
          overlap: false,
          followerKnowsLeader: true,
        },
      );
      assert.ok(failOverSeconds <= leaseSeconds + 2, `${failOverSeconds} s for a lease of ${leaseSeconds} s`);
    });

    test("a leader that resigns leaves the lease to anybody", () => {
      assert.deepEqual([seen.election.releasedLeaseIsEmpty, seen.election.transitions], [true, 1]);
    });

    test("an apply against another manager's field is refused and says whose it is; force takes it", () => {
      assert.equal(
        seen.apply.conflict,
        'Apply failed with 1 conflict: conflict with "one": .spec.template.spec.containers[name="main"].image',
      );
      assert.deepEqual(seen.apply.causes, [
        'FieldManagerConflict .spec.template.spec.containers[name="main"].image: conflict with "one"',
      ]);
      assert.deepEqual(seen.apply.forced, { main: "image:2", side: "image:3" });
    });

    test("the same apply again changes nothing; what a manager no longer applies goes when nobody else has it", () => {
      assert.equal(seen.apply.idempotent, true);
      assert.deepEqual(seen.apply.givenBack, { main: "image:2" });
      // Where a Deployment's controller runs, it may have come by meanwhile.
      const appliers = seen.apply.managers.filter((manager) => !manager.startsWith("kube-controller-manager "));
      assert.deepEqual(appliers, ["one Apply", "two Apply"]);
    });
  });
