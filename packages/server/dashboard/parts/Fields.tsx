/** Fields of filters and dialogs. */
import { useId, useState } from "preact/hooks"
import { useDraft } from "../session/useDraft.ts"

interface ChoiceProps {
  readonly label: string
  /** `undefined`: all. */
  readonly value: string | undefined
  readonly all: string
  readonly choices: ReadonlyArray<readonly [value: string, text: string]>
  readonly change: (value: string | undefined) => void
}

export const Choice = ({ all, change, choices, label, value }: ChoiceProps) => {
  const id = useId()
  const known = value === undefined || choices.some(([choice]) => choice === value)
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value ?? ""} onChange={(event) => change(event.currentTarget.value || undefined)}>
        <option value="">{all}</option>
        {choices.map(([choice, text]) => <option key={choice} value={choice}>{text}</option>)}
        {!known && <option value={value}>{value}</option>}
      </select>
    </div>
  )
}

interface TextFieldProps {
  readonly label: string
  readonly value: string
  readonly change: (value: string) => void
  /** The field lost its focus, or Enter was pressed. */
  readonly done?: (value: string) => void
  readonly required?: boolean
  readonly maxLength?: number
  /** What the field takes, in brackets behind its label. */
  readonly takes?: string | undefined
}

/** A field with nothing but blanks counts as filled in otherwise. */
export const notBlank = { pattern: ".*\\S.*", title: "Enter more than blanks." }

export const TextField = ({ change, done, label, maxLength = 500, required = false, takes, value }: TextFieldProps) => {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}{takes && <> <small>({takes})</small></>}</label>
      <input
        id={id}
        type="text"
        value={value}
        required={required}
        {...(required ? notBlank : {})}
        maxLength={maxLength}
        spellcheck={false}
        onInput={(event) => change(event.currentTarget.value)}
        onBlur={(event) => done?.(event.currentTarget.value)}
        onKeyDown={(event) => event.key === "Enter" && done?.(event.currentTarget.value)}
      />
    </div>
  )
}

/** A whole number from 1. */
export const NumberField = ({ change, label, value }: { readonly label: string; readonly value: string; readonly change: (value: string) => void }) => {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input id={id} type="number" min={1} step={1} value={value} required onInput={(event) => change(event.currentTarget.value)} />
    </div>
  )
}

/** A text of a filter. It changes when it was typed, not with every letter. */
export const FilterField = ({ change, label, takes, value = "" }: {
  readonly label: string
  readonly takes?: string
  readonly value: string | undefined
  readonly change: (value: string | undefined) => void
}) => {
  const [typed, setTyped] = useDraft(value)
  return <TextField label={label} takes={takes} value={typed} change={setTyped} done={(text) => text.trim() !== value && change(text.trim() || undefined)} />
}

interface InstantFieldProps {
  readonly label: string
  /** In the format of such an input, in UTC. */
  readonly value: string
  readonly change: (value: string) => void
  /** The field lost its focus, or Enter was pressed. */
  readonly done?: (value: string) => void
  readonly required?: boolean
}

/** The browser shows no zone in such a field; its label says UTC. */
export const InstantField = ({ change, done, label, required = false, value }: InstantFieldProps) => {
  const id = useId()
  const [incomplete, setIncomplete] = useState(false)
  // the value of a date without a time is empty, as if there were none
  const finish = ({ validity, value }: HTMLInputElement) => {
    setIncomplete(validity.badInput)
    if (!validity.badInput) done?.(value)
  }
  return (
    <div class="field">
      <label for={id}>{label} <small>(UTC)</small></label>
      <input
        id={id}
        type="datetime-local"
        step={1}
        value={value}
        required={required}
        aria-invalid={incomplete || undefined}
        aria-describedby={incomplete ? `${id}-incomplete` : undefined}
        onInput={(event) => change(event.currentTarget.value)}
        onBlur={(event) => finish(event.currentTarget)}
        // Enter in such a field does not submit the form in every browser.
        onKeyDown={(event) => event.key === "Enter" && finish(event.currentTarget)}
      />
      {incomplete && <small id={`${id}-incomplete`}>Enter a date and a time, or empty the field.</small>}
    </div>
  )
}
