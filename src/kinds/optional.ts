/** Optional fields as most kinds declare them: absent or there, never null. Each takes the field's description. */
import { z } from "zod";

/** Optional text. */
export const text = (about: string) => z.string().optional().describe(about);
/** Optional boolean. */
export const flag = (about: string) => z.boolean().optional().describe(about);
/** Optional list of texts. */
export const texts = (about: string) => z.array(z.string()).optional().describe(about);
/** Optional map of texts. */
export const textMap = (about: string) => z.record(z.string(), z.string()).optional().describe(about);
/** Optional time, RFC 3339. */
export const moment = (about: string) => z.string().meta({ format: "date-time" }).optional().describe(about);
