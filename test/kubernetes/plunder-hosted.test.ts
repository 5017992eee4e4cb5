import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { whyNotHere } from "./cluster.ts";
import { hostedLife } from "./plunder-hosted.ts";

const skip = (await whyNotHere()) ?? false;

test("N45 a hosted control plane has workers on blank hosts, on kube-apiserver, too", { skip }, async (t) => {
  const dir = await mkdtemp(join(tmpdir(), "slipway-plunder-hosted-"));
  t.after(() => rm(dir, { recursive: true, maxRetries: 10, retryDelay: 500 }));
  await hostedLife(t, { kubernetes: "real", dir });
});
