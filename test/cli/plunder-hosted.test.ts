import { test } from "node:test";
import { hostedLife } from "../kubernetes/plunder-hosted.ts";

test("N45 a hosted control plane has workers on blank hosts: they scale, roll, are replaced when they fail, and leave wiped hosts", async (t) => {
  await hostedLife(t, { kubernetes: "embedded", dir: undefined });
});
