/** Values as Go's JSON reader leaves them: what is not given is empty, and what is empty is as good as not given. */
import { z } from "zod";

const MOST_TEXT = 64 * 1024;

/** One line, or nothing. */
export const text = z
  .string("a text is needed")
  .max(MOST_TEXT)
  .refine((value) => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(value), "must be one line without control characters")
  .optional();

/** Any text, or nothing. */
export const lines = z.string("a text is needed").max(MOST_TEXT).optional();

export const flag = z.boolean("true or false is needed").optional();

export const count = z.int("a whole number from 0 is needed").min(0, "a whole number from 0 is needed").optional();

/** Whether a text says something. */
export function isSaid(value: string | undefined | null): value is string {
  return value !== undefined && value !== null && value !== "";
}
