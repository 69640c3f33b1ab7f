package text

import "strings"

// functionWords returns the languages that have a word that says nothing about a
// text's subject.
func functionWords() map[string]languages {
	all := make(map[string]languages, 1024)
	for language, words := range [...]string{
		English: `a about above after again against all also am an and any are aren't as at be because been before
being below between both but by can cannot can't could did didn't do does doesn't doing don't down during each
few for from further had has have having he her here hers him his how i if in into is isn't it its itself just
let me might more most must my no nor not of off on once only or other our ours out over own please same shall
she should so some such than that that's the their theirs them then there these they this those through to too
under until up us very was we were what when where which while who whom why will with would you your yours`,
		German: `der die das den dem des ein eine einen einem einer eines und oder aber nicht kein keine keinen ist sind
war waren wird werden wurde wurden hat haben hatte ich du er sie es wir ihr mich mir dich dir sich uns euch mein
meine meinen dein sein seine ihre ihren auf aus bei bis durch für gegen im in mit nach ohne über um unter vom von
vor zu zum zur zwischen als am an ans beim wie was wer wo wenn wann warum weil dass daß ob auch nur noch schon
sehr so dann hier dort diese dieser dieses diesen jede jeder jedes alle mehr man kann können soll sollen muss
müssen möchte will bitte etwas einmal also damit dabei sowie`,
		French: `le la les l un une des du de d et ou mais ne pas non est sont était être été a ont avait avoir je tu il
elle on nous vous ils elles me te se moi toi mon ma mes ton ta tes son sa ses notre nos votre vos leur leurs à au
aux avec chez dans depuis en entre jusque par pour sans sous sur vers comme que qu qui quoi dont où quand comment
pourquoi si ce cet cette ces ça cela plus moins très aussi alors donc puis ici là tout toute tous toutes même
peut peux veux faut faire fait j c n s y lors afin selon`,
		Spanish: `el la los las un una unos unas lo al del de y e o u pero no ni es son era ser estar está están fue ha
han había haber yo tú él ella nosotros ellos ellas me te se nos le les mi mis tu tus su sus nuestro nuestra a ante
bajo con contra desde en entre hacia hasta para por según sin sobre tras como que qué quien cual cuál cuando cómo
dónde donde porque si sí este esta estos estas ese esa esos esto eso aquí allí más menos muy también ya todo toda
todos todas cada otro otra puede puedo quiero necesito hay hacer algo`,
		Portuguese: `o a os as um uma uns umas ao aos à às do da dos das de e ou mas não nem é são era ser estar está
estão foi tem têm ter há eu tu ele ela nós eles elas me te se lhe meu minha meus minhas seu sua seus suas nosso
nossa ante com contra desde em entre no na nos nas num numa até para por pelo pela pelos pelas segundo sem sob
sobre como que quem qual quando onde porque se este esta estes estas esse essa isso isto aquele aqui ali mais
menos muito também já todo toda todos todas cada outro outra pode posso quero preciso fazer você vocês`,
		Italian: `il lo la i gli le l un uno una del dello della dei degli delle di d e ed o ma non è sono era essere
stato ha hanno aveva avere io tu lui lei noi voi loro mi ti si ci vi mio mia miei mie tuo tua suo sua suoi nostro
nostra a ad al allo alla ai agli alle con da dal dalla dai dalle in nel nella nei nelle per su sul sulla sui sulle
tra fra come che chi cui quale quando dove perché se questo questa questi queste quello quella quelli qui lì più
meno molto anche già tutto tutta tutti tutte ogni altro altra può posso voglio devo fare c qualcosa`,
		Dutch: `de het een en of maar niet geen is zijn was waren wordt worden werd heeft hebben had ik jij je hij zij ze
wij we jullie mij me jou hem haar ons hun mijn jouw uw aan achter bij binnen door in met na naar om onder op over
per sinds te tegen tot tussen uit van via voor zonder als dan dat die dit deze er hier daar hoe wat wie waar
wanneer waarom omdat ook nog al zeer heel zo meer minder alle alles elke elk ander andere kan kunnen moet moeten
wil graag iets`,
		cyrillic: `и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот
от меня еще нет о из ему теперь когда даже ну ли если уже или ни быть был него до вас нибудь уж вам ведь там
потом себя ничего ей может они тут где есть надо ней для мы тебя их чем была сам чтоб без будто чего раз тоже
себе под будет тогда кто этот того потому этого какой ним здесь этом один мой тем чтобы нее были куда зачем
всех можно при об это эта эти как нужно`,
	} {
		for word := range strings.FieldsSeq(words) {
			all[strings.ReplaceAll(word, "'", "")] |= 1 << language
		}
	}
	return all
}
