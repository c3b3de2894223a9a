import { invalidArgs } from '../errors.ts'
import type { JsonObject } from '../fields.ts'

const portMapping = /^-p (\d{1,5}):(\d{1,5})(\/(tcp|udp))?$/
/** From here on a number stands for any port that is the same inside and outside. */
const FIRST_IDENTITY_PORT = 70_000
const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/

/**
 * Reads `env` of a creation: names to values, port mappings as keys `-p host:container`, where a deployment has
 * `identityPorts` also from 70000 on. Values may be strings, numbers or booleans. Throws 400 `invalid_args`.
 */
export function readEnv(env: JsonObject, identityPorts = false): Record<string, string> {
  const isMapping = (name: string) => isPortMapping(name) || (identityPorts && isIdentityMapping(name))
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => {
      if (name.startsWith('-p') ? !isMapping(name) : !name.startsWith('-') && !variableName.test(name)) {
        throw invalidArgs(`env: ${name} is neither a variable's name nor a port mapping.`)
      }
      if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
        throw invalidArgs(`env: the value of ${name} must be a string.`)
      }
      return [name, String(value)]
    }),
  )
}

/** The container ports that an environment maps, as `8080/tcp`. */
export function mappedPorts(env: Record<string, string>): string[] {
  return Object.keys(env).flatMap(name => {
    const match = portMapping.exec(name)
    return match ? [`${match[2]}/${match[4] ?? 'tcp'}`] : []
  })
}

/** The variables of an environment, without its port mappings and other flags. */
export function environmentVariables(env: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('-')))
}

/** Whether the container is to see the same number as the outside, whatever that is. */
export function isIdentityPort(port: string): boolean {
  return Number.parseInt(port, 10) >= FIRST_IDENTITY_PORT
}

/** Turns the Docker flags of a template (`-e NAME=value -p 8080:8080`) into the object form of a creation. */
export function flagsToEnv(flags: string): Record<string, string> {
  const words = splitWords(flags)
  const env: Record<string, string> = {}
  for (let index = 0; index < words.length; index += 2) {
    const flag = words[index] ?? ''
    const value = words[index + 1] ?? ''
    const equals = value.indexOf('=')
    if (flag === '-e' && equals > 0) env[value.slice(0, equals)] = value.slice(equals + 1)
    else if (flag !== '-e') env[`${flag} ${value}`] = '1'
  }
  return env
}

function isPortMapping(name: string): boolean {
  const match = portMapping.exec(name)
  return match !== null && [match[1], match[2]].every(port => Number(port) > 0 && Number(port) < 65_536)
}

function isIdentityMapping(name: string): boolean {
  const [, host, container = ''] = portMapping.exec(name) ?? []
  return host === container && isIdentityPort(container)
}

/** Words as a shell splits them, quotes taken off. */
function splitWords(text: string): string[] {
  const words = text.match(/(?:[^\s"']|"(?:\\[\s\S]?|[^"\\])*"?|'[^']*')+/g) ?? []
  return words.map(word =>
    word.replace(/"((?:\\[\s\S]?|[^"\\])*)"?|'([^']*)'/g, (_, double?: string, single?: string) =>
      double === undefined ? (single ?? '') : double.replace(/\\(.)/g, '$1'),
    ),
  )
}
