/**
 * The service's behaviour where deployments of the interface differ, one entry per concern, with its words, the interface's first.
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
  /** The SSH keys of an account without any: an empty `list`, or 404. */
  keyless: ['list', '404'],
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
  /** The instances from which a copy can be made: those that run, or also those that are stopped or outbid. */
  copies: ['running', 'paused'],
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

/** The interface, to the letter: the first of all choices. */
export const interfaceProfile = {
  ...Object.fromEntries(Object.entries(choices).map(([name, [first]]) => [name, first])),
  page: 25,
  appears: 0,
  cap: 100_000,
  logs: 0,
} as Profile

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
  copies: 'paused',
  cap: 64,
  logs: 2,
}

/** An unknown name or value of a profile; the message says which, and lists the known ones. */
export class ProfileError extends Error {
  override readonly name = 'ProfileError'
}

const presets: Record<string, Profile> = { interface: interfaceProfile, public: publicProfile }

/** The profile in force. It can change at any moment. */
export class Deployment {
  #profile: Profile

  constructor(profile: Profile) {
    this.#profile = profile
  }

  get profile(): Profile {
    return this.#profile
  }

  /**
   * Changes the given values; `deployment` restarts from that deployment's profile. Only the public one has variants.
   * Throws ProfileError.
   */
  change(values: Readonly<Record<string, unknown>>): Profile {
    const preset = readChoice('deployment', values['deployment'] ?? this.#profile.deployment)
    const base = 'deployment' in values ? presets[preset] : undefined
    const changes = Object.entries(values).filter(([name]) => name !== 'deployment')
    if (preset === 'interface' && changes.length > 0) {
      throw new ProfileError('The interface has no variants: they are of --deployment public.')
    }
    const read = changes.map(([name, value]) => [name, readValue(name, value)])
    this.#profile = { ...(base ?? this.#profile), ...Object.fromEntries(read) }
    return this.#profile
  }
}

/** Reads `public,list=v0-empty,page=10`. Throws ProfileError. */
export function readProfile(text: string): Profile {
  const [name, ...pairs] = text.split(',')
  const values = pairs.map(pair => {
    const match = /^([a-z0-9]+)=(.+)$/.exec(pair)
    if (!match) throw new ProfileError(`${pair} has not the form name=value.`)
    const [, key = '', value = ''] = match
    return [key, key in ranges ? Number(value) : value]
  })
  return new Deployment(interfaceProfile).change({ ...Object.fromEntries(values), deployment: name })
}

function readValue(name: string, value: unknown): string | number {
  if (isIn(choices, name)) return readChoice(name, value)
  if (!isIn(ranges, name)) throw new ProfileError(`A deployment has no ${name}.`)
  const [low, high] = ranges[name]
  if (typeof value === 'number' && Number.isInteger(value) && value >= low && value <= high) return value
  throw new ProfileError(`${name} is a whole number from ${low} to ${high}.`)
}

function readChoice(name: keyof typeof choices, value: unknown): string {
  const words: readonly string[] = choices[name]
  const word = words.find(known => known === value)
  if (word === undefined) throw new ProfileError(`${name} is one of ${words.join(', ')}.`)
  return word
}

function isIn<Table extends object>(table: Table, name: PropertyKey): name is keyof Table {
  return Object.hasOwn(table, name)
}
