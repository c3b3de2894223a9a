import { answerProblem, type Page } from '#renderer/bridge/page.svelte.ts'
import { FieldErrors } from '#renderer/components/answers/fieldErrors.svelte.ts'
import { marketOf } from '#renderer/features/market/market.svelte.ts'
import { envOf, parseFlags } from '#renderer/features/templates/dockerFlags.ts'
import {
  changesSince,
  draftOf,
  newDraft,
  readTemplate,
  type TemplateDraft,
  type TemplateErrors,
} from '#renderer/features/templates/templateForm.ts'
import { templatesView } from '#renderer/features/templates/templatesView.svelte.ts'
import { soundsSecret } from '#shared/instance/secrets.ts'
import type { TemplateFields, TemplateView } from '#shared/market/template.ts'
import type { Problem } from '#shared/problem.ts'

/** A template's form, which keeps all input until it is saved or given up. */
export class TemplateForm {
  /** Undefined until it has been created. Follows every edit. */
  hash: string | undefined = $state()
  draft: TemplateDraft = $state(newDraft())
  problem: Problem | undefined = $state.raw()
  saving = $state(false)
  /** The first error in a row of `env`. */
  rowMistake: string | undefined = $state()
  readonly #page: Page
  readonly #account: string | undefined
  #id: number | undefined
  /** The hash of the template that a new one began with. */
  #from = ''
  #givenUp = false
  #before: TemplateDraft = $state.raw(newDraft())
  readonly #fields = new FieldErrors(
    () => this.#all,
    field => Object.entries(this.draft).find(([each]) => each === field)?.[1],
  )

  /** Edits `template`, or with `copy` begins a new one with its values. */
  constructor(page: Page, template: TemplateView | undefined, copy: boolean) {
    this.#page = page
    this.#account = page.account?.id
    this.#begin(template, copy)
    const unsaved = templatesView(page).takeUnsaved(this.#key)
    if (!unsaved) return
    this.draft = unsaved.draft
    this.#before = unsaved.before
  }

  #begin(template: TemplateView | undefined, copy: boolean): void {
    this.#from = template?.hash ?? ''
    if (!template) return
    if (copy) {
      const name = `${template.name} (copy)`.slice(0, 256)
      this.draft = { ...draftOf(template), name, registryUser: '', private: true }
      return
    }
    this.hash = template.hash
    this.#id = template.id
    this.draft = draftOf(template)
    this.#before = draftOf(template)
  }

  readonly #read = $derived.by(() => readTemplate(this.draft, this.#page.account?.capabilities))
  readonly #envMistake = $derived(
    parseFlags(this.draft.env).unclosed ? 'A quote is not closed.' : this.rowMistake,
  )
  readonly #all: TemplateErrors = $derived({
    ...('errors' in this.#read ? this.#read.errors : {}),
    ...(this.#envMistake === undefined ? {} : { env: this.#envMistake }),
  })

  /** The errors to show, by field. */
  get errors(): TemplateErrors {
    return this.#fields.shown
  }

  readonly touched = $derived(JSON.stringify(this.draft) !== JSON.stringify(this.#before))

  /** The names of likely secrets that a public template would expose. */
  readonly exposed: readonly string[] = $derived(this.draft.private ? [] : secretsInTemplate(this.draft))

  /** Whether the service may have a token for its registry, which it never returns. */
  readonly mayHaveToken = $derived(
    this.hash !== undefined && (this.#before.registry !== '' || this.#before.registryUser !== ''),
  )

  /** Keeps unsaved input for a return to the page, but for the token. */
  keep(): void {
    if (!this.touched || this.#givenUp) return
    const draft = $state.snapshot(this.draft) as TemplateDraft
    templatesView(this.#page).keepUnsaved({
      key: this.#key,
      draft: { ...draft, registryToken: undefined },
      before: this.#before,
    })
  }

  giveUp(): void {
    this.#givenUp = true
  }

  get #key(): string {
    return `${this.#account} ${this.hash ?? `new ${this.#from}`}`
  }

  leave(field: keyof TemplateFields): void {
    this.#fields.leave(field)
  }

  /** Whether it can be sent; errors are shown from now on. */
  check(): boolean {
    this.#fields.tell()
    this.problem = undefined
    return !('errors' in this.#read) && Object.keys(this.#all).length === 0
  }

  /** True once saved; false on an error, shown in `errors` or `problem`. */
  async save(): Promise<boolean> {
    if (this.saving) return false
    if (!this.check()) return false
    if ('errors' in this.#read) return false
    const { fields } = this.#read
    this.saving = true
    try {
      await this.#send(fields)
      this.#fields.reset()
      return true
    } catch (error) {
      this.#refuse(answerProblem(error))
      return false
    } finally {
      this.saving = false
    }
  }

  /** Saves onto the hash that the template has got elsewhere. Sets `problem` where it is gone. */
  async followElsewhere(): Promise<void> {
    const template = await templatesView(this.#page).findById(this.#id)
    if (!template) {
      this.problem = {
        code: 'gone',
        message: 'The template no longer exists.',
        advice: 'Save it as a new one.',
      }
      this.hash = undefined
      return
    }
    this.problem = undefined
    this.hash = template.hash
    await this.save()
  }

  /** Whether the refusal may mean that the hash is outdated. */
  get maybeEditedElsewhere(): boolean {
    return (
      this.problem !== undefined &&
      this.hash !== undefined &&
      this.#id !== undefined &&
      /not_found|no_such/.test(this.problem.code)
    )
  }

  async #send(fields: TemplateFields): Promise<void> {
    const { berth } = this.#page
    const account = this.#account === undefined ? {} : { account: this.#account }
    const sent = $state.snapshot(this.draft) as TemplateDraft
    if (this.hash === undefined) {
      const { hash } = await berth.createTemplate({ ...account, fields })
      this.hash = hash
    } else {
      const from = this.hash
      const { hash } = await berth.editTemplate({
        ...account,
        hash: from,
        changes: changesSince(this.#before, sent, fields),
      })
      templatesView(this.#page).follow(from, hash)
      this.hash = hash
      const now = await templatesView(this.#page)
        .find(hash)
        .catch(() => undefined)
      if (now) marketOf(this.#page).templateEdited(from, now)
    }
    this.#before = { ...sent, registryToken: undefined }
    this.draft.registryToken = undefined
    void templatesView(this.#page).refresh()
  }

  #refuse(problem: Problem): void {
    const field = problem.field?.replace(/^(fields|changes)\./, '').split('.')[0] ?? ''
    const own = fieldOf[field] ?? field
    if (Object.hasOwn(this.draft, own)) this.#fields.refuse(own, problem)
    else this.problem = problem
  }
}

/** The service's field names that differ from the draft's. */
const fieldOf: Record<string, string> = {
  desc: 'description',
  args_str: 'args',
  ssh_direct: 'sshDirect',
  use_ssh: 'useSsh',
  jup_direct: 'jupyterDirect',
  jupyter_dir: 'jupyterFolder',
  use_jupyter_lab: 'jupyterLab',
  docker_login_repo: 'registry',
  docker_login_user: 'registryUser',
  docker_login_pass: 'registryToken',
  extra_filters: 'extraFilters',
  recommended_disk_space: 'disk',
  volume_info: 'volumeInfo',
}

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
