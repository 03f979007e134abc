# Completion of tidelake and tidesim for bash. It asks the program's own --help, so it knows what that version knows.
_tidelake_complete() {
  local program=$1 word=$2 previous=$3 command=${COMP_WORDS[1]:-} choices
  COMPREPLY=()
  if [ "$COMP_CWORD" = 1 ]; then
    choices="$("$program" --help 2>/dev/null | sed -nE 's/^  ([a-z]+) .*/\1/p') --help --version"
  elif [[ $word == -* ]]; then
    choices=$("$program" "$command" --help 2>/dev/null | sed -nE 's/^  (--[a-z-]+) .*/\1/p')
  elif [[ $previous == --log-level ]]; then
    choices="error warn info debug trace"
  elif [[ $previous == --log-format ]]; then
    choices="text json"
  elif [[ ${program##*/} == tidesim && $previous == --* ]]; then
    case $previous in
      --clock) choices="real virtual" ;;
      --server-version) choices="2016 2017 2019 2022 2025" ;;
      --capture-interval) choices=manual ;;
      --tls) choices="self-signed none" ;;
    esac
  elif [[ $previous == --* ]]; then
    choices=$("$program" "$command" --help 2>/dev/null | sed -nE "s/^  $previous VALUE .*\(([a-zA-Z-]+(\|[a-zA-Z-]+)+)\).*/\1/p" | tr '|' ' ')
  elif [ "${program##*/}-$command-$COMP_CWORD" = tidelake-table-2 ]; then
    choices="schema history files cat sql optimize vacuum checkpoint"
  elif [ "${program##*/}-$command-$COMP_CWORD" = tidelake-verdict-2 ]; then
    choices="show advance check"
  fi
  # shellcheck disable=SC2207 # the words hold no blanks
  [ -z "${choices:-}" ] || COMPREPLY=($(compgen -W "$choices" -- "$word"))
}
complete -o default -F _tidelake_complete tidelake tidesim
