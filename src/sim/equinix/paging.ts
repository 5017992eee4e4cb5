import { href } from "./place-views.ts";
import { unprocessable } from "./refused.ts";

const DEFAULT_PER_PAGE = 10;
const MAX_PER_PAGE = 1000;

export interface Page<T> {
  items: readonly T[];
  meta: object;
}

/** The page that `page` and `per_page` ask for, with the document's `meta`. */
export function pageOf<T>(all: readonly T[], path: string, query: URLSearchParams): Page<T> {
  const perPage = number(query, "per_page", DEFAULT_PER_PAGE, MAX_PER_PAGE);
  const page = number(query, "page", 1, 100_000);
  const last = Math.max(1, Math.ceil(all.length / perPage));
  const link = (n: number): { href: string } => href(`${path}?page=${n}&per_page=${perPage}`);
  return {
    items: all.slice((page - 1) * perPage, page * perPage),
    meta: {
      first: link(1),
      last: link(last),
      self: link(page),
      // Older clients read them without asking whether they are there.
      next: page < last ? link(page + 1) : null,
      previous: page > 1 ? link(page - 1) : null,
      total: all.length,
      current_page: page,
      last_page: last,
    },
  };
}

function number(query: URLSearchParams, name: string, unset: number, max: number): number {
  const text = query.get(name);
  if (text === null) return unset;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > max) throw unprocessable(`${name} must be from 1 to ${max}`);
  return value;
}
