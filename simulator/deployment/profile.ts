/**
 * How the service answers where deployments of the interface differ, one entry a concern. README.md of this
 * folder's parent has the same as a table. The names and values are those of `--deployment` and of
 * `POST /sim/deployment`.
 */
export interface Profile {
  /** The routes and records: the interface's alone, or those of the best-known public deployment. */
  deployment: 'interface' | 'public'
  /**
   * What `GET /api/v0/instances/` answers: `v0` every instance; `v0-paged` the first page of them without a word
   * about more; `v0-410` 410 `deprecated_endpoint`; `v0-200-deprecated` the same body with 200;
   * `v0-success-false` 200 with `success: false`; `v0-empty` 200 and no instance.
   */
  list: 'v0' | 'v0-paged' | 'v0-410' | 'v0-200-deprecated' | 'v0-success-false' | 'v0-empty'
  /** `GET /api/v1/instances/`: not there, or in pages; `repeats` gives the same `next_token` for ever. */
  v1: '404' | 'pages' | 'repeats'
  /** Instances on a page at most. */
  page: number
  /** How a single instance that is not there is answered: 404, or 200 with `instances: null`. */
  single: '404' | 'null'
  /** World seconds until a new instance is in lists and readable by itself. */
  appears: number
  /** `buckets` of section 8, or a minimum `intervals` between calls of one endpoint and method. */
  limits: 'buckets' | 'intervals'
  /**
   * The body of a 429: JSON with `detail`, JSON with `error` and `msg`, plain `text` without a number,
   * `text-threshold` with one, or `html` as a proxy writes it. There is no `Retry-After`.
   */
  refusal: 'detail' | 'msg' | 'text' | 'text-threshold' | 'html'
  /** How a key that nobody issued is refused: `plain` 401 without a code, else `auth_error` with that status. */
  badkey: 'plain' | '400' | '401' | '403' | '404'
  /** What request bodies may hold: `loose` takes null for an absent value, "10" for 10 and 10 for "10". */
  body: 'strict' | 'loose'
  /**
   * Instance records: `full`; `null` in all that may be null; `missing` what is optional; `text` where numbers
   * are expected; `null-row` with null in place of the first of a list; `bad-row` with a first one of which the `id` alone can be read.
   */
  records: 'full' | 'null' | 'missing' | 'text' | 'null-row' | 'bad-row'
  /** Offers in an answer at most, whatever `limit` says. */
  cap: number
  /** `credit` of the user object. */
  credit: 'there' | 'null' | 'missing'
  /**
   * What an outbid instance shows: `running` still wants to run; `stopped` is indistinguishable from one that its
   * user stopped, but for its bid and `min_bid`.
   */
  outbid: 'running' | 'stopped'
  /** A start: it boots, or it is `queued` until someone else's GPUs are free (200 with `success: false`). */
  start: 'boots' | 'queued'
  /** How often a log is not there yet when it is fetched: 403 at first, then 404. */
  logs: number
}

/** The interface, to the letter. */
export const interfaceProfile: Profile = {
  deployment: 'interface',
  list: 'v0',
  v1: '404',
  page: 25,
  single: '404',
  appears: 0,
  limits: 'buckets',
  refusal: 'detail',
  badkey: 'plain',
  body: 'strict',
  records: 'full',
  cap: 100_000,
  credit: 'there',
  outbid: 'running',
  start: 'boots',
  logs: 0,
}

/** The best-known public deployment, as it is today. */
export const publicProfile: Profile = {
  deployment: 'public',
  list: 'v0-410',
  v1: 'pages',
  page: 25,
  single: 'null',
  appears: 0,
  limits: 'intervals',
  refusal: 'text',
  badkey: '404',
  body: 'loose',
  records: 'full',
  cap: 64,
  credit: 'there',
  outbid: 'running',
  start: 'boots',
  logs: 2,
}

/** What of a profile is a number; the rest are words. */
export type RangeName = 'page' | 'appears' | 'cap' | 'logs'
export type ChoiceName = Exclude<keyof Profile, RangeName>

/** The words that each may be. */
export const choices: { readonly [Name in ChoiceName]: readonly Profile[Name][] } = {
  deployment: ['interface', 'public'],
  list: ['v0', 'v0-paged', 'v0-410', 'v0-200-deprecated', 'v0-success-false', 'v0-empty'],
  v1: ['404', 'pages', 'repeats'],
  single: ['404', 'null'],
  limits: ['buckets', 'intervals'],
  refusal: ['detail', 'msg', 'text', 'text-threshold', 'html'],
  badkey: ['plain', '400', '401', '403', '404'],
  body: ['strict', 'loose'],
  records: ['full', 'null', 'missing', 'text', 'null-row', 'bad-row'],
  credit: ['there', 'null', 'missing'],
  outbid: ['running', 'stopped'],
  start: ['boots', 'queued'],
}

/** The least and the greatest that each may be; all are whole numbers. */
export const ranges: Readonly<Record<RangeName, readonly [number, number]>> = {
  page: [2, 25],
  appears: [0, 86_400],
  cap: [1, 100_000],
  logs: [0, 1000],
}
