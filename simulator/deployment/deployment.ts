import { choices, interfaceProfile, type Profile, publicProfile, ranges } from './profile.ts'

/** An unknown name or value of a profile; the message says which, and lists the known ones. */
export class ProfileError extends Error {
  override readonly name = 'ProfileError'
}

const presets = { interface: interfaceProfile, public: publicProfile }

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
    const preset = readChoice(
      'deployment',
      values['deployment'] ?? this.#profile.deployment,
    ) as keyof typeof presets
    const base = 'deployment' in values ? presets[preset] : this.#profile
    const changes = Object.entries(values).filter(([name]) => name !== 'deployment')
    if (preset === 'interface' && changes.length > 0) {
      throw new ProfileError('The interface has no variants: they are of --deployment public.')
    }
    const read = changes.map(([name, value]) => [name, readValue(name, value)])
    this.#profile = { ...base, ...Object.fromEntries(read) }
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
