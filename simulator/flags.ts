import { parseArgs } from 'node:util'
import { ProfileError, readProfile } from './deployment/deployment.ts'
import type { Profile } from './deployment/profile.ts'
import type { SimulatorOptions } from './simulator.ts'

/** An unknown flag, or one with an invalid value; the message names it and the values that it takes. */
export class FlagError extends Error {
  override readonly name = 'FlagError'
}

/** Reads the command line of the simulator. Throws FlagError. */
export function readFlags(words: string[]): SimulatorOptions {
  const flags = parse(words)
  return {
    port: integer('port', flags.port, 0, 65_535, 0),
    seed: integer('seed', flags.seed, 0, Number.MAX_SAFE_INTEGER, 7),
    speed: speed(flags.speed),
    offers: integer('offers', flags.offers, 1, 100_000, 500),
    limits: !flags['no-limits'],
    calm: flags.calm === true,
    ...(flags.deployment === undefined ? {} : { deployment: deployment(flags.deployment) }),
    ...(flags.flaky === undefined ? {} : { flaky: share('flaky', flags.flaky) }),
  }
}

function parse(words: string[]) {
  try {
    return parseArgs({
      args: words,
      options: {
        port: { type: 'string' },
        seed: { type: 'string' },
        speed: { type: 'string' },
        offers: { type: 'string' },
        'no-limits': { type: 'boolean' },
        calm: { type: 'boolean' },
        flaky: { type: 'string' },
        deployment: { type: 'string' },
      },
    }).values
  } catch (error) {
    throw new FlagError(error instanceof Error ? error.message : String(error))
  }
}

function deployment(text: string): Profile {
  try {
    return readProfile(text)
  } catch (error) {
    if (error instanceof ProfileError) throw new FlagError(`--deployment: ${error.message}`)
    throw error
  }
}

function integer(
  name: string,
  text: string | undefined,
  low: number,
  high: number,
  otherwise: number,
): number {
  if (text === undefined) return otherwise
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < low || value > high) {
    throw new FlagError(`--${name} takes an integer from ${low} to ${high}, not "${text}".`)
  }
  return value
}

function share(name: string, text: string): number {
  const value = Number(text)
  if (!/^\d+(\.\d+)?$/.test(text) || value > 1) {
    throw new FlagError(`--${name} takes a share from 0 to 1, not "${text}".`)
  }
  return value
}

function speed(text: string | undefined): number {
  if (text === undefined) return 60
  const value = Number(text)
  if (!/^\d+(\.\d+)?$/.test(text) || value <= 0 || value > 100_000) {
    throw new FlagError(`--speed takes a number above 0 and at most 100000, not "${text}".`)
  }
  return value
}
