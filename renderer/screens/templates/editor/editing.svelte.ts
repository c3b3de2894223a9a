import type { TemplateFields, TemplateView } from '../../../../electron/contract/market/template.ts'
import type { Problem } from '../../../../electron/contract/problem.ts'
import { type Page, problemOf } from '../../../berth/page.svelte.ts'
import { FieldErrors } from '../../../components/answers/fieldErrors.svelte.ts'
import { marketOf } from '../../../features/market/market.svelte.ts'
import { parseFlags } from '../../../features/templates/dockerFlags.ts'
import {
  changesSince,
  draftOf,
  newDraft,
  readTemplate,
  type TemplateDraft,
  type TemplateErrors,
} from '../../../features/templates/templateForm.ts'
import { templatesView } from '../../../features/templates/templatesView.svelte.ts'
import { secretsIn } from './secretsIn.ts'

/** A template being written or edited. Nothing typed is lost until it is saved or given up. */
export class Editing {
  /** Undefined until it has been created. Follows every edit. */
  hash: string | undefined = $state()
  draft: TemplateDraft = $state(newDraft())
  problem: Problem | undefined = $state.raw()
  saving = $state(false)
  /** What is wrong in a row of `env`. */
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

  /** `template` is edited, or with `copy` what a new one begins with. */
  constructor(page: Page, template: TemplateView | undefined, copy: boolean) {
    this.#page = page
    this.#account = page.account?.id
    this.#begin(template, copy)
    const kept = templatesView(page).takeUnsaved(this.#key)
    if (!kept) return
    this.draft = kept.draft
    this.#before = kept.before
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

  readonly #read = $derived.by(() => readTemplate(this.draft))
  readonly #envMistake = $derived(
    parseFlags(this.draft.env).unclosed ? 'A quote is not closed.' : this.rowMistake,
  )
  readonly #all: TemplateErrors = $derived({
    ...('errors' in this.#read ? this.#read.errors : {}),
    ...(this.#envMistake === undefined ? {} : { env: this.#envMistake }),
  })

  /** What to say at which field. */
  get errors(): TemplateErrors {
    return this.#fields.told
  }

  readonly touched = $derived(JSON.stringify(this.draft) !== JSON.stringify(this.#before))

  /** What would be read by everyone who uses the service, by name. */
  readonly exposed: readonly string[] = $derived(this.draft.private ? [] : secretsIn(this.draft))

  /** Whether the service may have a token for its registry: it never tells. */
  readonly mayHaveToken = $derived(
    this.hash !== undefined && (this.#before.registry !== '' || this.#before.registryUser !== ''),
  )

  /** The page goes elsewhere: what was typed waits for a return, but for the token. */
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

  /** Whether it can be sent; what is wrong is told from now on. */
  check(): boolean {
    this.#fields.tell()
    this.problem = undefined
    return !('errors' in this.#read) && Object.keys(this.#all).length === 0
  }

  /** True when it is with the service; false when something is wrong, told in `errors` or `problem`. */
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
      this.#refuse(problemOf(error))
      return false
    } finally {
      this.saving = false
    }
  }

  /** Goes on with what the template has become elsewhere: the next save changes that one. */
  async followElsewhere(): Promise<void> {
    const found = await templatesView(this.#page).findById(this.#id)
    if (!found) {
      this.problem = {
        code: 'gone',
        message: 'The template is no longer there.',
        advice: 'Save it as a new one.',
      }
      this.hash = undefined
      return
    }
    this.problem = undefined
    this.hash = found.hash
    await this.save()
  }

  /** Whether the refusal may mean that the hash is an old one. */
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

/** The service's names of fields that are called otherwise here. */
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
