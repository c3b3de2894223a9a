/**
 * The service's behaviour where deployments of the interface differ, one entry per concern, with its words.
 * simulator/README.md has the same as a table. The names are those of `--deployment` and of `POST /sim/deployment`.
 */
export const choices = {
  /** The routes and records: the interface's alone, or those of the best-known public deployment. */
  deployment: ['interface', 'public'],
  /**
   * The answer of `GET /api/v0/instances/`: `v0` all instances; `v0-paged` only the first page, without saying so;
   * `v0-410` 410 `deprecated_endpoint`; `v0-200-deprecated` the same body with 200; `v0-success-false` 200 with
   * `success: false`; `v0-empty` 200 and no instance.
   */
  list: ['v0', 'v0-paged', 'v0-410', 'v0-200-deprecated', 'v0-success-false', 'v0-empty'],
  /** `GET /api/v1/instances/`: missing, or in pages; `repeats` gives the same `next_token` forever. */
  v1: ['404', 'pages', 'repeats'],
  /** The answer for a single missing instance: 404, or 200 with `instances: null`. */
  single: ['404', 'null'],
  /** `buckets` of section 8, or a minimum `intervals` between calls of one endpoint and method. */
  limits: ['buckets', 'intervals'],
  /**
   * The body of a 429: JSON with `detail`, JSON with `error` and `msg`, plain `text` without a number,
   * `text-threshold` with one, or `html` as a proxy writes it. There is no `Retry-After`.
   */
  refusal: ['detail', 'msg', 'text', 'text-threshold', 'html'],
  /** The refusal of an unknown key: `plain` 401 without a code, else `auth_error` with that status. */
  badkey: ['plain', '400', '401', '403', '404'],
  /** The types in request bodies: `loose` takes null for an absent value, "10" for 10 and 10 for "10". */
  body: ['strict', 'loose'],
  /**
   * Instance records: `full`; `null` in all nullable fields; `missing` the optional ones; `text` for numbers;
   * `unmarked` without label and environment; `null-row` with null for a list's first record; `bad-row` with a first
   * record of which only the `id` is readable.
   */
  records: ['full', 'null', 'missing', 'text', 'unmarked', 'null-row', 'bad-row'],
  /** `credit` of the user object. */
  credit: ['there', 'null', 'missing'],
  /**
   * How an outbid instance looks: `running` as intended to run; `stopped` like one that its user stopped, but for its
   * bid and `min_bid`.
   */
  outbid: ['running', 'stopped'],
  /** The result of a start: it boots, or it is `queued` until GPUs are free (200 with `success: false`). */
  start: ['boots', 'queued'],
  /**
   * The result of renting: it boots; or 200 with `success: false`, with `new_contract` of one that is `queued` until
   * GPUs are free or created `stopped`, or without it, though it boots (`unsaid`) or is `refused`.
   */
  rent: ['boots', 'queued', 'stopped', 'unsaid', 'refused'],
} as const

/** The entries that are whole numbers, with their ranges. */
export const ranges = {
  /** The most instances on a page. */
  page: [2, 25],
  /** World seconds until a new instance appears in lists and can be read. */
  appears: [0, 86_400],
  /** The most offers in an answer, whatever `limit` says. */
  cap: [1, 100_000],
  /** How many fetches of a log miss it: first 403, then 404. */
  logs: [0, 1000],
} as const

export type Profile = { [Name in keyof typeof choices]: (typeof choices)[Name][number] } & {
  [Name in keyof typeof ranges]: number
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
  rent: 'boots',
  logs: 0,
}

/** The best-known public deployment, as it is today. */
export const publicProfile: Profile = {
  ...interfaceProfile,
  deployment: 'public',
  list: 'v0-410',
  v1: 'pages',
  single: 'null',
  limits: 'intervals',
  refusal: 'text',
  badkey: '404',
  body: 'loose',
  cap: 64,
  logs: 2,
}
