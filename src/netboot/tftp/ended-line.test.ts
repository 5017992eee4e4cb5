import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import { endedLine } from "./ended-line.ts";
import type { EndedRequest } from "./server.ts";

test("a line says how a request ended, and why where that is not plain", () => {
  const line = (outcome: EndedRequest["outcome"], bytes = 0): string =>
    endedLine({ client: { address: "192.0.2.50", port: 2070 }, name: "grub/grub.cfg", outcome, bytes, ms: 1234 });

  assert.equal(line({ is: "delivered" }, 700), "grub/grub.cfg: delivered, 700 bytes in 1.23 s");
  assert.equal(
    line({ is: "refused", code: 1, why: "file not found" }),
    "grub/grub.cfg: refused, 0 bytes in 1.23 s: file not found",
  );
  assert.equal(
    line({ is: "aborted", code: 3, message: "disk full" }, 512),
    "grub/grub.cfg: aborted, 512 bytes in 1.23 s: disk full",
  );
  const error = new Fault("Invalid", "ISO image", "keeps a compressed", { remedy: "make it without zisofs" });
  assert.equal(
    line({ is: "failed", error }),
    "grub/grub.cfg: failed, 0 bytes in 1.23 s: ISO image: keeps a compressed; make it without zisofs",
  );
});
