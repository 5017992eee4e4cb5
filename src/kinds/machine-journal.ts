/** What an object that claims a machine remembers of it, and what it waits for: status fields that infrastructure machines of Cluster API share. */
import { z } from "zod";
import { moment } from "./optional.ts";

const purchase = z
  .object({
    attempt: z.int().describe("Number of the order, counted from 1."),
    at: z.string().describe("When the order was announced, before it was sent. RFC 3339."),
    state: z
      .enum(["Pending", "Refused", "Done"])
      .describe("Pending: the order was announced, and its result is not known yet."),
    placement: z.int().describe("Index of the plan, metro and reservation tried."),
  })
  .optional()
  .describe("The current order. Written before the order is sent.");

export const machineJournal = {
  purchase,
  boot: z
    .object({
      id: z.string().describe("Name of this boot."),
      pass: z.int().describe("1, or 2 for the second boot."),
      at: z.string().describe("When the boot was prepared. RFC 3339."),
      sent: z.boolean().optional().describe("The provider accepted the boot."),
    })
    .optional()
    .describe("The current boot. Signals of other boots are ignored."),
  install: z
    .object({
      bootID: z.string().nullable().optional(),
      scriptFetched: moment("When the machine fetched its boot script."),
      configFetched: moment("When the machine fetched its bootstrap data."),
      started: moment("When the installer reported its start."),
      succeeded: moment("When the installer reported success."),
      failed: moment("When the installer reported failure."),
      message: z.string().optional().describe("Message of the installer."),
    })
    .optional()
    .describe("What the machine itself reported of its boot."),
  release: z
    .object({
      reason: z.string(),
      at: z.string().describe("Since when. RFC 3339."),
      accepted: z.boolean().optional().describe("The provider accepted the release."),
    })
    .optional()
    .describe("Why and since when the machine is being given back."),
  failureReason: z.string().optional().describe("Why the machine will not come, in one word."),
  failureMessage: z.string().optional().describe("Why the machine will not come, in words."),
  waitingFor: z.string().optional().describe("What the next step waits for."),
  waitingSince: z.string().optional().describe("Start of the wait. RFC 3339."),
  deadline: z.string().optional().describe("End of the wait. RFC 3339."),
};
