import { soundsSecret } from '#contract/instance/secrets.ts'
import { envOf } from '#renderer/features/templates/dockerFlags.ts'
import type { TemplateDraft } from '#renderer/features/templates/templateForm.ts'

/**
 * The names that sound like secrets and have a value, among a template's variables and the assignments in its start
 * script and arguments. There, a value taken from another variable does not count.
 */
export function secretsInTemplate({
  env,
  onstart,
  args,
}: Pick<TemplateDraft, 'env' | 'onstart' | 'args'>): string[] {
  const assigned = [...envOf(env).variables, ...assignments(onstart), ...assignments(args)]
  return [...new Set(assigned.flatMap(([name, value]) => (value !== '' && soundsSecret(name) ? name : [])))]
}

function assignments(text: string): [name: string, value: string][] {
  return text.split(/\s+/).flatMap(word => {
    const equals = word.indexOf('=')
    const name = word.slice(0, Math.max(0, equals))
    const value = word.slice(equals + 1).replace(/^["']|["']$/g, '')
    return /^-{0,2}[A-Za-z_][A-Za-z0-9_-]*$/.test(name) && !value.startsWith('$')
      ? [[name.replace(/^-+/, ''), value]]
      : []
  })
}
