package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// dressCompletion gives the command that cobra has for completions our words, and takes away what its
// script for bash needs from elsewhere.
func dressCompletion(c *cobra.Command) {
	c.Short = "Make TAB complete commands and names of tensors, in bash, zsh, fish or PowerShell"
	c.Long = `Print a script that makes TAB complete commands, flags, and the names of the tensors in a store or package.
Names are completed up to the next slash.`
	c.Example = `  echo 'source <(tstore completion bash)' >> ~/.bashrc
  echo 'autoload -U compinit; compinit; source <(tstore completion zsh)' >> ~/.zshrc
  tstore completion fish > ~/.config/fish/completions/tstore.fish`
	for _, sub := range c.Commands() {
		sub.Short = "Print the script for " + sub.Name()
		sub.Long = fmt.Sprintf("Print the script for %s; \"tstore completion --help\" says where to put it.", sub.Name())
		sub.RunE = func(cmd *cobra.Command, _ []string) error {
			script, err := completionScript(cmd)
			if err != nil {
				return err
			}
			if _, err = cmd.OutOrStdout().Write([]byte(script)); err != nil {
				return &failure{err} // the command line was right
			}
			return nil
		}
	}
}

// completionScript returns the script for the shell that a command is called after.
func completionScript(cmd *cobra.Command) (string, error) {
	var b bytes.Buffer
	plain, err := cmd.Flags().GetBool("no-descriptions")
	if err != nil {
		return "", err
	}
	switch root := cmd.Root(); {
	case cmd.Name() == "bash":
		err = root.GenBashCompletionV2(&b, !plain)
	case cmd.Name() == "zsh" && plain:
		err = root.GenZshCompletionNoDesc(&b)
	case cmd.Name() == "zsh":
		err = root.GenZshCompletion(&b)
	case cmd.Name() == "fish":
		err = root.GenFishCompletion(&b, !plain)
	case plain:
		err = root.GenPowerShellCompletion(&b)
	default:
		err = root.GenPowerShellCompletionWithDesc(&b)
	}
	script := b.String()
	for _, change := range completionChanges[cmd.Name()] {
		script = strings.Replace(script, change.from, change.to, 1)
	}
	return script, err
}

// completionChanges are changes to cobra's scripts, by shell: names of tensors with brackets are typed in
// quotes, which are not closed yet when TAB is pressed and are none of the name; and bash has no need of
// the package bash-completion, which not every machine has.
var completionChanges = map[string][]struct{ from, to string }{
	"bash": {
		{`    _get_comp_words_by_ref "$@" cur prev words cword` + "\n", "    __tstore_words\n"},
		{"    if declare -F _init_completion >/dev/null 2>&1; then", "    if false; then"},
		// Bash breaks words at = and :, too; they belong together where no space is between them.
		{"\n__start_tstore()", `
__tstore_words()
{
    local line=$COMP_LINE i word
    words=()
    for ((i = 0; i < ${#COMP_WORDS[@]}; i++)); do
        word=${COMP_WORDS[i]}
        if ((i > 0)) && [[ $line != [[:space:]]* && -n $line ]]; then
            words[${#words[@]}-1]+=$word
        else
            words+=("$word")
        fi
        line=${line#*"$word"}
        if ((i == COMP_CWORD)); then
            cword=$((${#words[@]} - 1))
        fi
    done
    case ${words[cword]} in
        [\'\"]*) words[cword]=${words[cword]:1} ;;
    esac
    cur=${words[cword]}
    prev=${words[cword > 0 ? cword - 1 : 0]}
}

__start_tstore()`},
	},
	"zsh": {{"    lastParam=${words[-1]}\n", `    [[ ${words[-1]} == [\'\"]* ]] && words[-1]=${words[-1][2,-1]}
    lastParam=${words[-1]}
`}},
	"fish": {{"(string escape -- (commandline -ct))", `(string escape -- (string trim -l -c '\'"' -- (commandline -ct)))`}},
}
